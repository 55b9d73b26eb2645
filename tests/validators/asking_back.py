"""Questions on passages with a draft: some that leave open what is meant, and others that look alike and are clear."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CLEAR", "FOUND", "NOT_FOUND", "OPEN", "Case"]


class Case(NamedTuple):
    """What was asked of which passages, what the draft says, and what was said before."""

    name: str
    query: str
    passages: list[str]
    draft: str
    conversation: tuple[str, ...] = ()


FERRY = [
    "The Meridian is a hotel on Quay Street. Breakfast is served from 7 to 10 in the morning.",
    "The Meridian is a car ferry between Odde and Sund. It carries 140 cars and leaves at 9 every morning.",
]
TAN_HUNG = [
    "Xã Tân Hưng thuộc huyện Lạc Sơn. Dân số của xã là 4.200 người.",
    "Xã Tân Hưng thuộc huyện Bình Lâm. Chợ xã họp vào thứ Năm, dân số 6.900 người.",
]
FALCON = [
    "Falcon is a backup program for small offices. A licence costs $40 a year.",
    "Falcon is a courier company in Leeds. It charges $12 for a parcel up to five kilos.",
]
HARLOW = [
    "Harlow Hall was a school until 1950 and stands in the north of the town. Its roof was renewed in 2004.",
    "Harlow Hall, a concert venue by the river, opened in 1988. Its roof was renewed in 2016.",
]
KEPLER = [
    "Kepler is a telescope of the valley observatory. It was bought in 2009.",
    "Kepler is the oldest of our three delivery vans. We had it repainted last May.",
]
DUONG = [
    "Nguyễn Văn Dương là trưởng phòng kế toán. Ông làm việc ở tầng 4.",
    "Nguyễn Văn Dương là bác sĩ khoa mắt. Ông khám vào sáng thứ Ba tại phòng 12.",
]
HOA_SEN = [
    "Hoa Sen là quán cà phê trên đường Lê Lợi. Quán mở cửa từ 7 giờ.",
    "Hoa Sen là trường mẫu giáo ở phường 3. Trường nhận trẻ từ 6 giờ 30.",
]
SAO_MAI = [
    "Tàu Sao Mai chở khách ra đảo Hòn Tre. Tàu rời bến lúc 8 giờ.",
    "Tàu Sao Mai chở hàng giữa cảng Dung Quất và cảng Vũng Áng. Tàu dài 92 mét.",
]
PHU_LOC = [
    "Đình Phú Lộc nằm ở xã An Khê. Đình được dựng năm 1802.",
    "Đình Phú Lộc nằm ở phường Mỹ Thạnh. Đình được tu sửa năm 2011.",
]
AURORA = [
    "Aurora is our winter coat for women. It is sold in three colours.",
    "Aurora is a ski resort in the Tarn valley. A day pass costs 38 euros.",
]
LOCKS = ["The Arden lock weighs 1.2 kg and has a steel core. The Briggs lock weighs 2.4 kg and is sold with two keys."]
KETTLES = [
    "Model K20 holds 1.5 litres and takes four minutes to boil. Model K35 holds 2 litres and takes six minutes to boil."
]
TRAILS = ["Birch Trail is 4 km long. Heron Trail is 11 km long and closes in winter. Quarry Trail is 7 km long."]
MACHINES = [
    "The Brunel printer prints 30 pages a minute and stands on the second floor.",
    "The Tasman printer prints 55 pages a minute and stands in the hall.",
]
MAY_LOC = [
    "Máy lọc Thanh An bảo hành 12 tháng, giá 3,2 triệu đồng. Máy lọc Bảo Khang bảo hành 24 tháng, giá 4,5 triệu đồng."
]
XE_DAP = ["Xe đạp Gió Núi nặng 13 kg, giá 6 triệu đồng. Xe đạp Sóng Biển nặng 10 kg, giá 9 triệu đồng."]
KHOA_HOC = [
    "Khóa Vẽ Cơ Bản kéo dài 8 tuần, học vào tối thứ Hai.",
    "Khóa Vẽ Màu Nước kéo dài 12 tuần, học vào tối thứ Tư.",
]
PHONG = ["Phòng Lan có 20 chỗ ngồi và một máy chiếu. Phòng Cúc có 45 chỗ ngồi và hai máy chiếu."]
TICKETS = ["A single ticket costs £3.20, a day ticket £7.50 and a weekly ticket £26. Tickets are sold at the pier."]
ROOMS = [
    "Room prices per night: single room 60 euros, double room 85 euros, family room 120 euros. Breakfast is included."
]
GYM = [
    "The gym offers three memberships. The student membership costs $18 a month, the standard membership $32 and the gold membership $54."
]
PARCEL = [
    "Standard delivery takes five days. Express delivery takes two days. Courier delivery takes three hours within the city."
]
WARRANTY = [
    "Batteries carry a warranty of 6 months. Frames carry a warranty of 10 years. Motors carry a warranty of 2 years."
]
VE_VUON = ["Giá vé vào vườn: người lớn 60.000 đồng, trẻ em 25.000 đồng, sinh viên 40.000 đồng."]
GOI_MANG = ["Gói Tiết Kiệm có tốc độ 80 Mbps. Gói Tăng Tốc có tốc độ 200 Mbps. Gói Doanh Nghiệp có tốc độ 500 Mbps."]
THUE_XE = [
    "Thuê xe máy số giá 120.000 đồng một ngày, xe tay ga giá 180.000 đồng một ngày, xe côn tay giá 250.000 đồng một ngày."
]

FOUND = [
    Case("a hotel and a ferry, the hour of one", "What time does the Meridian leave?", [FERRY[0].replace("Breakfast is served", "The airport bus leaves"), FERRY[1]], "It leaves at 9 every morning [2]."),
    Case("two communes, both with people", "Xã Tân Hưng có bao nhiêu dân?", TAN_HUNG, "Xã có 4.200 người [1]."),
    Case("a program and a courier", "How much does Falcon cost?", FALCON, "Falcon costs $40 a year [1]."),
    Case("two halls of one name", "When was the roof of Harlow Hall renewed?", HARLOW, "In 2016 [2]."),
    Case("a telescope and a van", "How old is Kepler?", KEPLER, "Kepler was bought in 2009 [1]."),
    Case("a coat and a resort", "How much is Aurora?", AURORA, "Aurora is 38 euros [2]."),
    Case("that one of two locks", "How heavy is that one?", LOCKS, "It weighs 2.4 kg [1]."),
    Case("that printer of two printers", "How fast does that printer print?", MACHINES, "It prints 55 pages a minute [2]."),
    Case("it of two printers", "Where does it stand?", MACHINES, "It stands in the hall [2]."),
    Case("this type of two purifiers", "Loại này bảo hành bao lâu?", MAY_LOC, "Loại này bảo hành 24 tháng [1]."),
    Case("that thing of two bicycles", "Cái đó nặng bao nhiêu?", XE_DAP, "Nặng 10 kg [1]."),
    Case("that bicycle of two bicycles", "Chiếc xe đạp đó giá bao nhiêu?", XE_DAP, "Chiếc xe đạp đó giá 6 triệu đồng [1]."),
    Case("that course of two courses", "Khóa đó kéo dài bao lâu?", KHOA_HOC, "Khóa đó kéo dài 8 tuần [1]."),
    Case("this room of two rooms", "Phòng này có bao nhiêu chỗ ngồi?", PHONG, "Phòng này có 45 chỗ ngồi [1]."),
    Case("three English tickets asked for in Vietnamese", "Vé giá bao nhiêu?", TICKETS, "Vé giá 7,50 bảng Anh [1]."),
    Case("three English rooms asked for in Vietnamese", "Giá phòng một đêm là bao nhiêu?", ROOMS, "Giá phòng là 85 euro một đêm [1]."),
    Case("three memberships asked for in Vietnamese", "Thẻ hội viên giá bao nhiêu một tháng?", GYM, "Thẻ hội viên giá 32 đô la một tháng [1]."),
    Case("three deliveries asked for in Vietnamese", "Giao hàng mất bao lâu?", PARCEL, "Giao hàng mất hai ngày [1]."),
    Case("three warranties asked for in Vietnamese", "Thời hạn bảo hành là bao lâu?", WARRANTY, "Thời hạn bảo hành là 2 năm [1]."),
    Case("three Vietnamese plans asked for in English", "What is the speed of the plan?", GOI_MANG, "The speed is 200 Mbps [1]."),
    Case("three tickets asked for in their language", "How much does a ticket cost?", TICKETS, "A ticket costs £7.50 [1]."),
    Case("three prices asked for in their language", "Vé vào vườn giá bao nhiêu?", VE_VUON, "Vé giá 40.000 đồng [1]."),
]  # fmt: skip

NOT_FOUND = [
    Case("two men of one name", "Nguyễn Văn Dương làm việc ở đâu?", DUONG, "Ông làm việc ở tầng 4 [1]."),
    Case("a café and a kindergarten", "Hoa Sen mở cửa lúc mấy giờ?", HOA_SEN, "Mở cửa từ 7 giờ [1]."),
    Case("two ships of one name", "Tàu Sao Mai chạy tuyến nào?", SAO_MAI, "Tàu chạy ra đảo Hòn Tre [1]."),
    Case("two communal houses of one name", "Đình Phú Lộc ở đâu?", PHU_LOC, "Đình nằm ở xã An Khê [1]."),
    Case("it of two kettles", "How long does it need to boil?", KETTLES, "It takes six minutes [1]."),
    Case("this one of three trails", "Is this one longer than 5 km?", TRAILS, "Yes, it is 7 km long [1]."),
    Case("three Vietnamese tickets asked for in English", "How much is a ticket?", VE_VUON, "A ticket is 60,000 dong [1]."),
    Case("three Vietnamese motorbikes asked for in English", "How much does it cost to rent a motorbike per day?", THUE_XE, "A motorbike costs 120,000 dong per day [1]."),
]  # fmt: skip
OPEN = [*FOUND, *NOT_FOUND]

ONE_HOTEL = [
    "The Meridian is a hotel on Quay Street. Breakfast is served from 7 to 10 in the morning.",
    "The Meridian is the oldest hotel of the town. It has 84 rooms and belongs to the Lund family.",
]
MOC_AN = [
    "Xã Mộc An thuộc huyện Lạc Sơn. Dân số của xã là 4.200 người.",
    "Xã Mộc An nằm bên sông Đáy. Chợ xã họp vào thứ Năm hằng tuần.",
]
PLATE = ["The Ferris oven weighs 31 kg. The oven is sold in black. It has a warranty of 3 years."]
SAME = ["The north gate opens at 8. The south gate opens at 8. Dogs are not allowed."]
CUNG_GIA = ["Lớp Sáng học phí 900.000 đồng. Lớp Chiều học phí 900.000 đồng. Cả hai lớp có 12 buổi."]
CLEAR = [
    Case("the ferry is named", "What time does the car ferry Meridian leave?", FERRY, "It leaves at 9 every morning [2]."),
    Case("the district is named", "Xã Tân Hưng, huyện Bình Lâm có bao nhiêu dân?", TAN_HUNG, "Xã có 6.900 người [2]."),
    Case("one hotel in two passages", "When is breakfast served at the Meridian?", ONE_HOTEL, "From 7 to 10 in the morning [1]."),
    Case("one commune in two passages", "Xã Mộc An có bao nhiêu dân?", MOC_AN, "Xã có 4.200 người [1]."),
    Case("one commune and its market", "Chợ xã Mộc An họp ngày nào?", MOC_AN, "Chợ họp vào thứ Năm [2]."),
    Case("only the ferry carries cars", "How many cars does the Meridian carry?", FERRY, "It carries 140 cars [2]."),
    Case("only one of two men sees patients", "Bác sĩ Nguyễn Văn Dương khám vào ngày nào?", DUONG, "Ông khám vào sáng thứ Ba [2]."),
    Case("both halls are answered", "When was the roof of Harlow Hall renewed?", HARLOW, "The roof of the former school was renewed in 2004 [1], that of the concert venue in 2016 [2]."),
    Case("both communes are answered", "Xã Tân Hưng có bao nhiêu dân?", TAN_HUNG, "Xã Tân Hưng thuộc huyện Lạc Sơn có 4.200 người [1], xã Tân Hưng thuộc huyện Bình Lâm có 6.900 người [2]."),
    Case("the turn before says which hall", "When was the roof of Harlow Hall renewed?", HARLOW, "In 2016 [2].", ("I have a concert at Harlow Hall, the venue by the river.",)),
    Case("the turn before names the lock", "How heavy is that one?", LOCKS, "It weighs 2.4 kg [1].", ("Do you have the Briggs lock in stock?",)),
    Case("the turn before names the bicycle", "Cái đó nặng bao nhiêu?", XE_DAP, "Nặng 10 kg [1].", ("Mình thích xe đạp Sóng Biển.",)),
    Case("the question names the kettle first", "I bought model K35. How long does it need to boil?", KETTLES, "It takes six minutes [1]."),
    Case("the question names the purifier first", "Mình mua máy lọc Bảo Khang, loại này bảo hành bao lâu?", MAY_LOC, "Loại này bảo hành 24 tháng [1]."),
    Case("one oven only", "How heavy is it?", PLATE, "It weighs 31 kg [1]."),
    Case("only one lock has keys", "How many keys is it sold with?", LOCKS, "It is sold with two keys [1]."),
    Case("both gates open at the same hour", "When does the gate open?", SAME, "It opens at 8 [1]."),
    Case("both classes cost the same", "Học phí một lớp là bao nhiêu?", CUNG_GIA, "Học phí là 900.000 đồng [1]."),
    Case("the ticket is named in Vietnamese", "Vé ngày giá bao nhiêu?", TICKETS, "Vé ngày giá 7,50 bảng [1]."),
    Case("the room is named in Vietnamese", "Phòng đôi giá bao nhiêu một đêm?", ROOMS, "Phòng đôi giá 85 euro một đêm [1]."),
    Case("the delivery is named in Vietnamese", "Giao hàng tiêu chuẩn mất bao lâu?", PARCEL, "Mất năm ngày [1]."),
    Case("a fact that all tickets share", "Mua vé ở đâu?", TICKETS, "Vé được bán tại cầu tàu [1]."),
    Case("every ticket is answered", "Vé giá bao nhiêu?", TICKETS, "Vé lượt giá 3,20 bảng, vé ngày 7,50 bảng, vé tuần 26 bảng [1]."),
    Case("every Vietnamese ticket is answered in English", "How much is a ticket?", VE_VUON, "Adults pay 60,000 dong, children 25,000 dong and students 40,000 dong [1]."),
    Case("a child's ticket asked for in English", "How much is a ticket for children?", VE_VUON, "25,000 dong [1]."),
    Case("all plans are asked for", "What are the speeds of the plans?", GOI_MANG, "They are 80, 200 and 500 Mbps [1]."),
    Case("the cheapest is asked for", "Vé rẻ nhất giá bao nhiêu?", TICKETS, "Vé rẻ nhất giá 3,20 bảng [1]."),
    Case("the trail is named", "Is Heron Trail open in winter?", TRAILS, "No, it closes in winter [1]."),
    Case("the hall is told", "How fast does the printer in the hall print?", MACHINES, "It prints 55 pages a minute [2]."),
    Case("the evening is told", "Khóa học vào tối thứ Tư kéo dài bao lâu?", KHOA_HOC, "Khóa đó kéo dài 12 tuần [2]."),
]  # fmt: skip
