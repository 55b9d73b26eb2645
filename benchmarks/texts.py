"""Sample requests, the same on every machine: invented places described in ordinary prose, in English and Vietnamese.

Each topic is a paragraph of about 150 words, a sentence a line. `{name}` is an invented place, `{7..10}` a number drawn
from that range. A line that begins with `=` says the sentence above it in other words, `{1}` and `{2}` being its
numbers. Topics stand in pairs of one kind (two libraries, two museums), as search returns them. Every seed gives other
places, other numbers and another choice of sentences, so that no two requests are alike.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, NamedTuple

__all__ = ["ANSWERS", "LANGUAGES", "PIECES", "Answer", "Size", "mixed", "prose", "request", "texts_hash", "words_in"]

Answer = Literal["copied", "paraphrased", "wrong figure", "uncited"]
Size = Literal["typical", "long"]

ANSWERS: Final[tuple[Answer, ...]] = ("copied", "paraphrased", "wrong figure", "uncited")
LANGUAGES: Final = ("en", "vi")
AS_OF: Final = "2026-02-01T09:00:00Z"
TYPICAL_PASSAGE: Final = 120
SLOT: Final = re.compile(r"\{(\d+)\.\.(\d+)\}")
LAST_YEAR: Final = 2100

# Short pieces that, repeated, have made scanners of text slow.
PIECES: Final = {
    "brackets": "[",
    "parentheses": "(source ",
    "quotes": '"',
    "backticks": "`",
    "digits": "1,",
    "dots": ". ",
    "newlines": "\n",
    "spaces": "    ",
    "combining": "a\u0301",
    "not": "not ",
    "names": "Aa Bb ",
    "addresses": "http://a.",
    "a sentence": "The plan costs $9 per month and Anna Lee does not like it. ",
    "câu": "Gói cước giá 9.000 đồng mỗi tháng và không được đổi trả. ",
    "marks": "- * # | ",
    "dashes": "1-",
    "doi": "10.1/",
    "et al": "Lee et al. (",
}

NAMES: Final = {
    "en": [
        *("Alderbrook", "Fenmoor", "Stonebeck", "Wrenfield", "Maplecombe", "Ostermere", "Quillbury", "Harlowick"),
        *("Tansmoor", "Briarholt", "Dunvale", "Elmscott", "Greyhaven", "Larkmoor", "Penswick", "Rookdale"),
        *("Silverham", "Thornby", "Westerleigh", "Yarrowby", "Kestrelford", "Millhampton", "Oakhanger", "Copperholm"),
    ],
    "vi": [
        *("Hòa Lâm", "Vĩnh Khê", "Tân Hạ", "Phú Điền", "Bình Thượng", "An Khương", "Long Vân", "Đông Sa", "Thanh Mỹ"),
        *("Kim Trạch", "Sơn Lĩnh", "Ngọc Bãi", "Hưng Phố", "Yên Quới", "Lộc Tiên", "Mai Động", "Trường Yến", "Gia Hội"),
        *("Cẩm Đình", "Quảng Lợi", "Nam Cát", "Xuân Đài", "Bảo Ninh", "Diên Hương"),
    ],
}

ENGLISH: Final = """
? When does the {name} Town Library open on weekdays and what does a lost card cost?
The {name} Town Library opens at {7..10} a.m. on weekdays and closes at {5..8} p.m. in winter.
= On weekdays the doors of the {name} Town Library open at {1} a.m., and in winter it shuts at {2} p.m.
A lost borrower card is replaced at the front desk for a fee of ${3..9}.
= Readers who lose their borrower card pay ${1} for a new one at the front desk.
Members may keep up to {8..20} books at a time for {2..5} weeks, and renew them once.
= Up to {1} books can be borrowed by a member for {2} weeks, with one renewal.
The reading room on the second floor has {40..90} seats, and laptops can be plugged in at every table.
Newspapers from {10..30} countries are laid out each morning beside the tall windows.
Anyone can use the copying machine, which takes coins and prints in black and white.
Local history maps are kept in a locked cabinet and are shown on request by the staff.
A quiet corner with soft chairs was added when the building was repaired in {1990..2015}.
Late returns are charged {10..60} cents a day, but picture books carry no charge.
The book van visits {4..12} villages every fortnight and stops for an hour in each.

? How old must a child be to join the {name} Children's Library without a parent present?
Children aged {5..9} and older may join the {name} Children's Library without a parent present.
= A child who is at least {1} can sign up at the {name} Children's Library without a parent.
Story hour takes place every Saturday at {9..11} in the morning and lasts {30..50} minutes.
= On Saturday mornings there is a story hour at {1}, which takes {2} minutes.
Each young reader can take home {4..10} books and {2..4} games for ten days.
= Young readers may borrow {1} books and {2} games for a period of ten days.
The shelves are low and painted in bright colours so that titles are easy to reach.
A wooden ship in the middle of the hall holds {12..30} children at once.
Audio stories can be heard through headphones near the entrance, where cushions are provided.
In summer the garden behind the house is used for drawing classes and puppet shows.
Food is not allowed inside, but there is a bench with a roof by the gate.
School groups book their visit {2..6} weeks ahead and receive a printed guide.
About {2400..9600} visitors came last year, most of them during the autumn holidays.
New titles are shown on a round table.

? Which years do the trams in the {name} Tram Museum come from and when do rides start?
The {name} Tram Museum shows {11..24} trams that were built between {1901..1925} and 1968.
= Visitors to the {name} Tram Museum see {1} trams dating from {2} to 1968.
Rides on the short track start every {15..40} minutes on Sundays from May to October.
= From May to October, trams run on the short track every {1} minutes on Sundays.
An adult ticket costs ${8..18} and includes one ride, while pupils pay half.
= Adults pay ${1} for a ticket with one ride, and pupils are charged half of that.
The workshop, where old motors are taken apart and cleaned, can be watched from a gallery.
A model of the city as it looked in {1930..1955} fills the former ticket office.
Drivers explain how the brakes work and let guests ring the bell at the terminus.
The hall is not heated, so warm clothing is recommended during the cold months.
Posters, enamel signs and uniforms hang along the walls of the upper corridor.
The collection grew out of a depot that closed when buses took over its lines.
Parking is free for {60..140} cars on the gravel field across the road.
Dogs may travel in the rear car.

? How hot is the furnace in the {name} Glass Museum and who may try blowing glass?
The furnace of the {name} Glass Museum burns at {1080..1190} degrees Celsius for {9..11} months a year.
= For {2} months of the year the furnace in the {name} Glass Museum is kept at {1} degrees Celsius.
Guests older than {12..16} may blow a small bowl under guidance for ${20..45}.
= Anyone above the age of {1} can blow a small bowl with help, at a price of ${2}.
The oldest vase on display was found in a well and is roughly {400..900} years old.
= A vase discovered in a well, about {1} years of age, is the oldest piece on show.
Coloured windows from three demolished chapels hang in the round tower and are lit from behind.
Labels are printed in {3..6} languages and in raised letters for blind visitors.
Demonstrations begin at noon and again at three, except on Mondays, when the ovens rest.
The gift shop sells beads, bottles and lamps made by apprentices of the house.
Broken pieces are melted again, which saves about {20..45} tonnes of sand each year.
A film about the craft runs all day in the cellar and needs no ticket.
Wheelchairs can reach every room by the lift next to the cloakroom.
Photographs are welcome without a flash.

? How long does a first appointment at the {name} Dental Clinic take and what must I bring?
A first appointment at the {name} Dental Clinic takes {30..55} minutes and costs ${40..95}.
= The first visit to the {name} Dental Clinic lasts {1} minutes, for which ${2} is charged.
Patients should bring their insurance card and a list of medicines they take.
= Those who come should have with them the card of their insurance and a list of their medicines.
Appointments that are cancelled less than {12..48} hours before cost a fee of ${10..25}.
= If an appointment is called off under {1} hours ahead, a fee of ${2} is due.
The practice has {4..9} treatment rooms, two of which are reserved for children.
Urgent pain is seen the same day when the patient calls before ten o'clock.
X-ray pictures are stored for {8..12} years and can be sent to other practices.
Crowns are made in the laboratory on the ground floor and are ready within a week.
The waiting area offers water, newspapers and a small table with wooden toys.
Evening hours are held on Tuesdays until {7..9} p.m. for people who work.
The nearest bus stop lies {100..400} metres away, beside the post office.
Interpreters for sign language can be booked a few days ahead without extra cost.

? What does a vaccination for a cat cost at the {name} Animal Clinic and is parking free?
A vaccination for a cat at the {name} Animal Clinic costs ${25..60} and protects for {12..36} months.
= At the {name} Animal Clinic cats are vaccinated for ${1}, and the protection lasts {2} months.
The car park behind the clinic has {14..40} places and is free for the first two hours.
= There are {1} parking places behind the clinic, and the first two hours cost nothing.
Operations are carried out from Tuesday to Thursday, and animals must not eat for {8..14} hours before.
= Animals are operated on from Tuesday to Thursday and have to go without food for {1} hours.
Rabbits and birds wait in a separate room, away from the dogs.
The pharmacy counter hands out medicines only after an examination in the last {6..12} months.
Blood samples are examined on the spot, and results are given by telephone in the afternoon.
Stray animals found in the district are treated and kept for up to {10..30} days.
A nurse visits farms in the valley twice a week with a small van.
Payments can be divided into {3..6} monthly parts without interest.
Since {2004..2018} the roof has carried solar panels that supply the lamps and fridges.

? How long is the guarantee on a new frame from the {name} Bicycle Shop and does it cover paint?
The {name} Bicycle Shop gives a guarantee of {3..8} years on every new frame, paint excluded.
= Every new frame sold by the {name} Bicycle Shop is guaranteed for {1} years, but the paint is not.
A full inspection with new brake pads takes {2..5} working days and costs ${45..110}.
= For ${2} a bicycle is fully inspected and fitted with new brake pads within {1} working days.
Unused parts can be returned within {14..60} days if the receipt is shown.
= Customers with a receipt may bring back unused parts for up to {1} days.
Second-hand wheels are measured, trued and sold with a sticker that states their age.
Rental bikes cost ${12..30} a day, and a helmet and a lock come with them.
The repair stand in the yard may be used by anybody, and tools are lent free of charge.
Deliveries arrive on Wednesday mornings, so new models are on the floor by noon.
A winter course teaches beginners how to mend tubes and adjust gears.
Cargo bikes can be tried on a marked lane of {150..400} metres behind the store.
The workshop employs {5..12} mechanics, and two of them build racing wheels.
Old tyres are taken back and recycled.

? Which bread does the {name} Bakery bake on Fridays and how much does a large loaf cost?
The {name} Bakery bakes rye bread on Fridays, and a large loaf weighs {1100..1900} grams.
= On Fridays rye bread comes out of the ovens of the {name} Bakery, and large loaves weigh {1} grams.
A large loaf costs ${4..9}, and half of one is sold for a little more than half.
= The price of a large loaf is ${1}, and half a loaf is slightly dearer than half of that.
The dough rests for {14..26} hours in wooden tubs before it is shaped by hand.
= Before it is shaped by hand, the dough is left in wooden tubs for {1} hours.
Flour comes from a water mill upstream that grinds {3..9} kinds of grain.
Rolls ordered before six in the evening are ready when the shutters go up.
Cakes with nuts are kept on a separate shelf, and allergens are written on each label.
Bread from the day before is sold at a discount of {30..60} percent until it runs out.
The counter takes cash and cards, but cheques have not been accepted since {2009..2020}.
Schools may visit the ovens on Monday afternoons in groups of at most fifteen.
What is left over in the evening goes to a kitchen for people in need.

? Are dogs allowed in {name} River Park and until what time are the gates open in summer?
The gates of {name} River Park stay open until {8..11} p.m. from June to {25..31} August.
= In summer, until {2} August, people can enter {name} River Park up to {1} p.m.
Dogs are allowed on the eastern bank if they are kept on a lead of at most {2..5} metres.
= On the eastern bank dogs may be walked on a lead no longer than {1} metres.
The rowing boats by the old weir are rented for ${6..16} an hour with life jackets.
= Boats for rowing can be hired near the old weir at ${1} per hour, life jackets included.
A paved path of {3..9} kilometres follows the water and is lit at night.
Picnic tables stand under the poplars, and barbecues are permitted on the stone squares only.
The playground was rebuilt in {2011..2022} with swings, a rope bridge and a sand pit.
Herons nest on the island, which is closed to visitors between March and July.
Drinking water flows from {5..14} taps along the main avenue except during frost.
Open-air concerts are held on the meadow on the first Friday of the month.
Gardeners plant about {6000..18000} bulbs each autumn with the help of volunteers.

? What does a yearly ticket for the {name} Botanical Garden cost and when does the palm house close?
A yearly ticket for the {name} Botanical Garden costs ${28..75} and admits {2..4} adults.
= For ${1} a year, a ticket lets {2} adults into the {name} Botanical Garden.
The palm house closes {30..75} minutes before the garden, and prams stay outside.
= Visitors have to leave the palm house {1} minutes earlier than the garden, and prams are not let in.
More than {3200..9800} species grow in the beds, a third of them from mountains.
= Over {1} species are planted there, and one third come from the mountains.
The giant water lily opens in July and carries leaves as wide as a table.
Seeds are exchanged with {80..260} other gardens, and none are sold to private persons.
Guided walks start at the sundial on Sundays and take a little under two hours.
The herb bed was laid out in {1955..1985} after a drawing from a monastery.
Benches are marked with the names of trees instead of those of donors.
In the cold season lamps burn for {9..13} hours a day above the orchids.
A tea room in the former gatehouse serves soup, scones and mint from the grounds.
Maps of the paths are handed out at both entrances.

? How warm is the water in the {name} Swimming Pool and what does a ten-visit card cost?
The water in the {name} Swimming Pool is kept at {25..29} degrees, and lanes are {25..50} metres long.
= Lanes of {2} metres and water of {1} degrees are what the {name} Swimming Pool offers.
A card for ten visits costs ${38..88} and may be shared by a family.
= Families can share a card that is good for ten visits, at a price of ${1}.
Children under {6..10} must be accompanied by an adult who can swim.
= A swimming adult has to come along with every child below the age of {1}.
Early swimmers are let in from six o'clock on Tuesdays and Thursdays.
The sauna holds {12..24} guests and is reserved for women on Monday evenings.
Lockers take a coin that falls out again when the key is returned.
The basin was emptied and tiled anew in {2008..2021}, which took seven months.
Lessons for beginners run over {8..14} weeks in groups of no more than eight.
The diving tower stays shut when fewer than three attendants are on duty.
A cafeteria with a view of the slide sells noodles, fruit and coffee.
Music is switched off during the last hour so that the hall becomes quiet.

? How often does the {name} Harbour Ferry sail on Sundays and can I take a bicycle along?
The {name} Harbour Ferry sails every {20..50} minutes on Sundays, and the crossing takes {9..18} minutes.
= On Sundays a boat of the {name} Harbour Ferry leaves every {1} minutes and needs {2} minutes to cross.
A bicycle may be taken along for ${1..5}, but not between seven and nine on workdays.
= Bicycles travel for ${1}, except from seven to nine on working days.
The larger of the two vessels carries {180..340} passengers and {16..32} cars.
= The bigger vessel has room for {1} passengers as well as {2} cars.
Tickets are sold on board and from a machine at the northern pier.
When the wind reaches force {7..9}, the service stops and a bus runs around the bay.
The engines were replaced with electric ones in {2015..2023} and charge while passengers board.
Monthly passes are valid on the city trams as well and cost ${45..99}.
The upper deck is open, with wooden seats and a board that explains the lighthouses.
Lost property is kept for {4..12} weeks in the office beside the crane.
Seals can often be seen from the left side shortly after the boat leaves.
Prams and wheelchairs board first.
"""

VIETNAMESE: Final = """
? Thư viện thị xã {name} mở cửa lúc mấy giờ và làm lại thẻ hết bao nhiêu?
Thư viện thị xã {name} mở cửa lúc {7..9} giờ sáng và đóng cửa lúc {17..20} giờ các ngày trong tuần.
= Trong tuần, bạn đọc có thể vào thư viện thị xã {name} từ {1} giờ sáng đến {2} giờ.
Bạn đọc làm mất thẻ phải nộp {15000..60000} đồng để được cấp lại tại quầy.
= Lệ phí cấp lại thẻ bị mất là {1} đồng, nộp ngay tại quầy.
Mỗi thành viên được mượn tối đa {5..12} cuốn sách trong {2..4} tuần và gia hạn một lần.
= Thành viên có thể mượn nhiều nhất {1} cuốn trong vòng {2} tuần, gia hạn được một lần.
Phòng đọc ở tầng hai có {40..90} chỗ ngồi, bàn nào cũng có ổ cắm điện.
Báo chí trong nước được bày mỗi sáng bên dãy cửa sổ nhìn ra hồ.
Bản đồ cổ của địa phương được cất trong tủ khóa và chỉ lấy ra khi có yêu cầu.
Sách trả muộn bị phạt {1000..5000} đồng mỗi ngày, riêng truyện tranh thì không thu.
Góc yên tĩnh có ghế nệm được bố trí thêm trong đợt sửa chữa năm {2005..2020}.
Xe sách lưu động ghé {4..12} xã mỗi tháng hai lần, mỗi nơi dừng khoảng một giờ.

? Trẻ từ mấy tuổi được tự đăng ký thẻ ở thư viện thiếu nhi {name} mà không cần cha mẹ?
Trẻ từ {6..10} tuổi được tự đăng ký thẻ tại thư viện thiếu nhi {name} mà không cần cha mẹ đi cùng.
= Thư viện thiếu nhi {name} cho trẻ đủ {1} tuổi tự làm thẻ, không cần người lớn đi cùng.
Giờ kể chuyện diễn ra vào sáng thứ bảy, bắt đầu lúc {8..10} giờ và kéo dài {30..50} phút.
= Sáng thứ bảy hằng tuần có buổi kể chuyện dài {2} phút, mở đầu lúc {1} giờ.
Mỗi em được mang về nhà {3..8} cuốn sách và {2..4} bộ trò chơi trong mười ngày.
= Các em có thể mượn {1} cuốn sách cùng {2} bộ trò chơi trong thời gian mười ngày.
Giá sách được đóng thấp và sơn màu tươi để các em dễ lấy.
Chiếc thuyền gỗ đặt giữa sảnh chứa được {12..30} em cùng một lúc.
Truyện âm thanh được nghe bằng tai nghe gần lối vào, nơi có sẵn nệm ngồi.
Mùa hè, khu vườn phía sau dùng làm lớp vẽ và chỗ diễn rối.
Không được mang đồ ăn vào trong, nhưng cạnh cổng có ghế dài có mái che.
Các trường muốn tham quan cần đặt lịch trước {2..6} tuần và nhận một tờ hướng dẫn.
Năm ngoái có khoảng {2400..9600} lượt khách, phần lớn đến vào kỳ nghỉ thu.

? Tàu điện trong bảo tàng {name} được đóng từ năm nào và giá vé người lớn là bao nhiêu?
Bảo tàng tàu điện {name} trưng bày {11..24} toa tàu được đóng từ năm {1905..1930} đến năm 1968.
= Khách tham quan bảo tàng tàu điện {name} được xem {1} toa tàu có từ năm {2} đến 1968.
Vé người lớn có giá {40000..95000} đồng, gồm một lượt đi tàu, học sinh được giảm một nửa.
= Người lớn mua vé hết {1} đồng và được đi tàu một lượt, còn học sinh trả một nửa.
Các chuyến tàu trên đường ray ngắn khởi hành cách nhau {15..40} phút vào chủ nhật.
= Vào chủ nhật, cứ {1} phút lại có một chuyến tàu chạy trên đường ray ngắn.
Xưởng sửa chữa, nơi động cơ cũ được tháo ra lau chùi, có thể nhìn từ hành lang.
Mô hình thành phố năm {1935..1955} chiếm trọn phòng bán vé ngày trước.
Người lái tàu giải thích cách phanh và cho khách rung chuông ở bến cuối.
Nhà trưng bày không có máy sưởi nên mùa lạnh cần mặc ấm.
Áp phích, biển sắt và đồng phục được treo dọc hành lang tầng trên.
Bãi đất đối diện đỗ được {60..140} ô tô và không thu tiền.
Chó được đi ở toa cuối cùng.

? Lò nung của bảo tàng thủy tinh {name} nóng bao nhiêu độ và ai được thử thổi bát?
Lò nung của bảo tàng thủy tinh {name} giữ nhiệt độ {1080..1190} độ C suốt {9..11} tháng trong năm.
= Suốt {2} tháng mỗi năm, lò của bảo tàng thủy tinh {name} luôn nóng {1} độ C.
Khách trên {12..16} tuổi được thử thổi một chiếc bát nhỏ với giá {150000..350000} đồng.
= Với {2} đồng, người lớn hơn {1} tuổi có thể tự thổi một chiếc bát nhỏ.
Chiếc bình cổ nhất được tìm thấy dưới giếng và có tuổi khoảng {300..800} năm.
= Hiện vật lâu đời nhất là chiếc bình vớt lên từ giếng, chừng {1} năm tuổi.
Kính màu của ba nhà nguyện đã dỡ bỏ được treo trong tháp tròn và chiếu sáng từ phía sau.
Nhãn hiện vật in bằng {3..6} thứ tiếng và có chữ nổi cho người khiếm thị.
Thợ trình diễn lúc giữa trưa và ba giờ chiều, trừ thứ hai là ngày lò nghỉ.
Mảnh vỡ được nấu lại, nhờ vậy mỗi năm tiết kiệm khoảng {20..45} tấn cát.
Phim về nghề chiếu cả ngày dưới tầng hầm và không cần vé.
Người đi xe lăn đến được mọi phòng bằng thang máy cạnh chỗ gửi đồ.

? Khám lần đầu ở phòng khám nha khoa {name} mất bao lâu và cần mang theo những gì?
Buổi khám đầu tiên tại phòng khám nha khoa {name} kéo dài {30..55} phút, phí {150000..400000} đồng.
= Lần khám đầu ở phòng khám nha khoa {name} mất {1} phút và hết {2} đồng.
Người bệnh cần mang thẻ bảo hiểm và danh sách thuốc đang dùng.
= Khi đến khám phải có thẻ bảo hiểm cùng danh sách các loại thuốc đang uống.
Lịch hẹn bị hủy trước dưới {12..48} giờ thì phải trả {50000..150000} đồng.
= Ai hủy hẹn muộn hơn {1} giờ trước buổi khám sẽ mất {2} đồng.
Phòng khám có {4..9} ghế điều trị, trong đó hai ghế dành riêng cho trẻ em.
Người bị đau gấp được khám trong ngày nếu gọi trước mười giờ.
Phim chụp được lưu {8..12} năm và có thể gửi sang nơi khác.
Răng sứ được làm ngay tại xưởng ở tầng trệt và xong trong một tuần.
Khu chờ có nước uống, báo và một bàn nhỏ với đồ chơi gỗ.
Tối thứ ba phòng khám làm việc đến {19..21} giờ cho người bận đi làm.
Trạm xe buýt gần nhất cách đó {100..400} mét, bên cạnh bưu điện.
Có thể đặt trước người phiên dịch.

? Tiêm phòng cho mèo ở phòng khám thú y {name} giá bao nhiêu và gửi xe có mất tiền không?
Tiêm phòng cho mèo tại phòng khám thú y {name} giá {120000..350000} đồng, hiệu lực {12..36} tháng.
= Ở phòng khám thú y {name}, một mũi tiêm cho mèo hết {1} đồng và có tác dụng {2} tháng.
Bãi xe phía sau có {14..40} chỗ và miễn phí trong hai giờ đầu.
= Phía sau phòng khám có {1} chỗ đỗ xe, hai giờ đầu không phải trả tiền.
Ca mổ được thực hiện từ thứ ba đến thứ năm và con vật phải nhịn ăn {8..14} giờ.
= Từ thứ ba đến thứ năm là lịch mổ, trước đó vật nuôi không được ăn trong {1} giờ.
Thỏ và chim chờ ở phòng riêng, cách xa chó.
Quầy thuốc chỉ bán cho con vật đã được khám trong vòng {6..12} tháng.
Mẫu máu được xét nghiệm tại chỗ, kết quả báo qua điện thoại vào buổi chiều.
Thú đi lạc trong quận được chữa trị và giữ lại tối đa {10..30} ngày.
Mỗi tuần hai lần, y tá đi xe nhỏ đến các trang trại trong thung lũng.
Chi phí có thể chia thành {3..6} tháng mà không tính lãi.
Từ năm {2008..2020} mái nhà có pin mặt trời đủ cho đèn và tủ lạnh.

? Cửa hàng xe đạp {name} bảo hành khung xe mới bao nhiêu năm và có tính nước sơn không?
Cửa hàng xe đạp {name} bảo hành {3..8} năm cho mọi khung xe mới, không tính nước sơn.
= Khung xe mới mua ở cửa hàng xe đạp {name} được bảo hành {1} năm, trừ lớp sơn.
Kiểm tra toàn bộ và thay má phanh mất {2..5} ngày làm việc, giá {250000..600000} đồng.
= Với {2} đồng, xe được kiểm tra toàn bộ và thay má phanh trong {1} ngày làm việc.
Phụ tùng chưa dùng được trả lại trong {7..30} ngày nếu còn hóa đơn.
= Khách giữ hóa đơn có thể trả phụ tùng chưa sử dụng trong vòng {1} ngày.
Bánh xe cũ được cân chỉnh và bán kèm nhãn ghi rõ số năm sử dụng.
Thuê xe hết {60000..150000} đồng mỗi ngày, kèm mũ bảo hiểm và khóa.
Giá sửa xe ngoài sân ai cũng dùng được và dụng cụ cho mượn miễn phí.
Hàng mới về vào sáng thứ tư nên đến trưa đã có trên kệ.
Lớp học mùa đông dạy người mới cách vá săm và chỉnh líp.
Xe chở hàng được chạy thử trên làn riêng dài {150..400} mét phía sau.
Xưởng có {5..12} thợ, trong đó hai người chuyên làm bánh xe đua.

? Tiệm bánh {name} nướng bánh gì vào thứ sáu và một ổ lớn giá bao nhiêu tiền?
Tiệm bánh {name} nướng bánh lúa mạch vào thứ sáu, mỗi ổ lớn nặng {1100..1900} gam.
= Thứ sáu là ngày tiệm bánh {name} làm bánh lúa mạch, một ổ lớn cân nặng {1} gam.
Một ổ lớn giá {35000..80000} đồng, nửa ổ bán đắt hơn một nửa chút ít.
= Giá của một ổ lớn là {1} đồng, còn nửa ổ thì nhỉnh hơn một nửa.
Bột được ủ {14..26} giờ trong thùng gỗ rồi mới nặn bằng tay.
= Trước khi nặn bằng tay, bột nằm trong thùng gỗ suốt {1} giờ.
Bột mì lấy từ cối xay nước ở thượng nguồn, nơi xay {3..9} loại hạt.
Bánh mì nhỏ đặt trước sáu giờ tối sẽ có khi tiệm mở cửa hôm sau.
Bánh có hạt được để trên kệ riêng và chất gây dị ứng ghi rõ trên nhãn.
Bánh của ngày hôm trước được giảm {30..60} phần trăm cho đến khi hết.
Quầy nhận tiền mặt và thẻ, nhưng đã ngừng nhận séc từ năm {2009..2020}.
Các trường được xem lò vào chiều thứ hai, mỗi nhóm nhiều nhất mười lăm người.
Bánh còn lại buổi tối được chuyển đến bếp ăn cho người khó khăn.

? Công viên ven sông {name} có cho dắt chó vào không và mùa hè mở cổng đến mấy giờ?
Cổng công viên ven sông {name} mở đến {20..23} giờ từ tháng sáu đến ngày {25..31} tháng tám.
= Mùa hè, đến hết ngày {2} tháng tám, khách vào được công viên ven sông {name} tới {1} giờ.
Chó được dắt ở bờ phía đông nếu có dây dài không quá {2..5} mét.
= Ở bờ đông, khách có thể dắt chó bằng dây tối đa {1} mét.
Thuyền chèo cạnh đập cũ cho thuê {40000..90000} đồng một giờ, kèm áo phao.
= Muốn chèo thuyền cạnh đập cũ thì trả {1} đồng mỗi giờ, áo phao đã tính trong giá.
Con đường lát đá dài {3..9} cây số chạy dọc mép nước và có đèn ban đêm.
Bàn dã ngoại đặt dưới hàng cây, chỉ được nướng thịt trên các ô đá.
Sân chơi được xây lại năm {2011..2022} với xích đu, cầu dây và hố cát.
Cò làm tổ trên đảo nhỏ, nơi cấm khách từ tháng ba đến tháng bảy.
Dọc lối chính có {5..14} vòi nước uống, mở quanh năm.
Nhạc ngoài trời được tổ chức trên bãi cỏ vào thứ sáu đầu tiên của tháng.
Mỗi mùa thu người làm vườn trồng khoảng {6000..18000} củ hoa cùng tình nguyện viên.

? Vé năm của vườn thực vật {name} giá bao nhiêu và nhà kính trồng cọ đóng cửa lúc nào?
Vé năm của vườn thực vật {name} giá {300000..850000} đồng, dùng cho {2..4} người lớn.
= Trả {1} đồng mỗi năm, {2} người lớn được vào vườn thực vật {name} bằng một vé.
Nhà kính trồng cọ đóng cửa trước khu vườn {30..75} phút và không cho xe đẩy vào.
= Khách phải rời nhà kính trồng cọ sớm hơn khu vườn {1} phút, xe đẩy để bên ngoài.
Trong vườn có hơn {3200..9800} loài cây, một phần ba đến từ vùng núi.
= Trên {1} loài được trồng ở đây, trong đó một phần ba có gốc miền núi.
Cây súng khổng lồ nở vào tháng bảy, lá rộng bằng mặt bàn.
Hạt giống được trao đổi với {80..260} khu vườn khác và không bán cho cá nhân.
Buổi đi bộ có hướng dẫn bắt đầu ở đồng hồ mặt trời, kéo dài gần hai giờ.
Luống cây thuốc được lập năm {1965..1990} theo một bức vẽ của nhà chùa.
Mùa lạnh, đèn trên giàn lan được bật {9..13} giờ mỗi ngày.
Quán trà trong nhà gác cổng cũ bán cháo, bánh nướng và bạc hà hái tại vườn.
Bản đồ lối đi được phát ở cả hai cổng ra vào.

? Nước trong bể bơi {name} ấm bao nhiêu độ và thẻ mười lượt giá bao nhiêu tiền?
Nước trong bể bơi {name} được giữ ở {25..29} độ, mỗi làn bơi dài {25..50} mét.
= Bể bơi {name} có các làn dài {2} mét, nước luôn ở mức {1} độ.
Thẻ mười lượt giá {250000..600000} đồng và cả gia đình dùng chung được.
= Gia đình có thể dùng chung một thẻ mười lượt, giá {1} đồng.
Trẻ dưới {6..10} tuổi phải đi cùng một người lớn biết bơi.
= Người lớn biết bơi phải đi kèm trẻ chưa đủ {1} tuổi.
Khách bơi sớm được vào từ sáu giờ vào thứ ba và thứ năm.
Phòng xông hơi chứa {12..24} người và tối thứ hai chỉ dành cho phụ nữ.
Tủ đồ nhận một đồng xu, khi trả chìa khóa thì đồng xu rơi ra.
Bể được tháo nước và ốp gạch lại năm {2008..2021}, công việc mất bảy tháng.
Lớp cho người mới kéo dài {8..14} tuần, mỗi nhóm không quá tám người.
Tháp nhảy đóng cửa khi có ít hơn ba người trực cứu hộ.
Quán ăn nhìn ra máng trượt bán mì, trái cây và cà phê.
Giờ cuối buổi không mở nhạc.

? Phà cảng {name} chủ nhật bao lâu có một chuyến và có được mang xe đạp theo không?
Phà cảng {name} chạy cách nhau {20..50} phút vào chủ nhật, mỗi lượt qua mất {9..18} phút.
= Chủ nhật, cứ {1} phút phà cảng {name} lại rời bến và sang bờ bên kia sau {2} phút.
Xe đạp được mang theo với giá {5000..20000} đồng, trừ bảy đến chín giờ ngày làm việc.
= Mang xe đạp lên phà hết {1} đồng, nhưng ngày làm việc không nhận từ bảy đến chín giờ.
Chiếc lớn hơn chở được {180..340} hành khách và {16..32} ô tô.
= Phà lớn có chỗ cho {1} người cùng {2} ô tô.
Vé được bán trên phà và ở máy tự động tại bến phía bắc.
Khi gió đạt cấp {7..9}, phà ngừng chạy và có xe buýt đi vòng quanh vịnh.
Động cơ được thay bằng loại chạy điện năm {2015..2023} và sạc trong lúc khách lên.
Vé tháng dùng được cho cả xe buýt thành phố, giá {180000..400000} đồng.
Tầng trên để ngỏ, có ghế gỗ và tấm bảng giới thiệu các ngọn hải đăng.
Đồ bỏ quên được giữ {4..12} tuần ở văn phòng cạnh cần cẩu.
Xe nôi và xe lăn được ưu tiên lên trước các hành khách khác.
"""


class Sentence(NamedTuple):
    """A template, and how to say it in other words (empty where it is not for answers)."""

    text: str
    otherwise: str


@dataclass(frozen=True, slots=True)
class Topic:
    """A question and the sentences of a paragraph."""

    query: str
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class Stated:
    """A sentence with its numbers filled in: as it stands, in other words, and with its first number wrong."""

    text: str
    otherwise: str
    wrong: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph that was filled in: its question, all its sentences, and those that answers are made of."""

    query: str
    sentences: tuple[Stated, ...]

    @property
    def facts(self) -> list[Stated]:
        """The sentences that can be said in other words."""
        return [s for s in self.sentences if s.otherwise]

    def text(self, words: int | None = None) -> str:
        """The paragraph, or its first sentences that come closest to so many words."""
        lengths = [words_in(s.text) for s in self.sentences]
        count = len(lengths)
        if words is not None:
            count = min(range(1, count + 1), key=lambda n: abs(sum(lengths[:n]) - words))
        return " ".join(s.text for s in self.sentences[:count])


def words_in(text: str) -> int:
    """How many words stand in a text, spaces apart; Vietnamese syllables count one each."""
    return len(text.split())


def texts_hash() -> str:
    """What the samples are made of, as one number for run records."""
    return hashlib.sha256(f"{ENGLISH}{VIETNAMESE}{PIECES}{NAMES}".encode()).hexdigest()[:16]


@cache
def topics(language: str) -> tuple[Topic, ...]:
    """The topics of a language, two of a kind next to each other."""
    found: list[Topic] = []
    for block in (ENGLISH if language == "en" else VIETNAMESE).strip().split("\n\n"):
        query, *lines = block.splitlines()
        sentences: list[Sentence] = []
        for line in lines:
            if line.startswith("= "):
                sentences[-1] = Sentence(sentences[-1].text, line[2:])
            else:
                sentences.append(Sentence(line, ""))
        found.append(Topic(query.removeprefix("? "), tuple(sentences)))
    return tuple(found)


def passage(language: str, topic: int, draw: random.Random) -> Passage:
    """A topic with a place and numbers drawn for it."""
    template = topics(language)[topic]
    name = draw.choice(NAMES[language])
    return Passage(
        template.query.replace("{name}", name),
        tuple(_stated(s, name, language, draw) for s in template.sentences),
    )


def _stated(sentence: Sentence, name: str, language: str, draw: random.Random) -> Stated:
    slots = [(int(low), int(high)) for low, high in SLOT.findall(sentence.text)]
    numbers = [_number(low, high, draw) for low, high in slots]
    template = SLOT.sub("{}", sentence.text)
    otherwise = re.sub(r"\{(\d)\}", lambda m: _written(numbers[int(m[1]) - 1], language), sentence.otherwise)
    wrong = [_other(numbers[0], *slots[0]), *numbers[1:]] if slots else []
    return Stated(
        _filled(template, name, numbers, language),
        otherwise.replace("{name}", name),
        _filled(template, name, wrong, language),
    )


def _filled(template: str, name: str, numbers: Sequence[int], language: str) -> str:
    for number in numbers:
        template = template.replace("{}", _written(number, language), 1)
    return template.replace("{name}", name)


def _number(low: int, high: int, draw: random.Random) -> int:
    """A number of the range; beyond years, a round one."""
    number = draw.randint(low, high)
    step = 10 ** (len(str(number)) - 2) if number >= LAST_YEAR else 1
    return number // step * step


def _other(number: int, low: int, high: int) -> int:
    """Another number of about the same size."""
    return number + max(1, (high - low) // 2) if number <= (low + high) // 2 else number - max(1, (high - low) // 2)


def _written(number: int, language: str) -> str:
    """2,500 in English and 2.500 in Vietnamese; years are written without a mark."""
    if number < LAST_YEAR:
        return str(number)
    return f"{number:,}" if language == "en" else f"{number:,}".replace(",", ".")


def request(language: str, size: Size, answer: Answer, seed: int) -> dict[str, Any]:
    """Typical: 3 passages of 120 words, an answer of 60 with 4 claims. Long: 6 of 300, an answer of 200 with 12."""
    draw = random.Random(f"{language} {size} {seed}")  # the same passages for every kind of answer
    parts, chosen = _typical(language, seed, draw) if size == "typical" else _long(language, draw)
    texts = [" ".join(p.text(TYPICAL_PASSAGE if size == "typical" else None) for p in part) for part in parts]
    return {
        "query": parts[0][0].query,
        "draft_answer": _draft(chosen, answer, draw),
        "retrieved_context": [{"source_id": f"doc-{n}", "text": text} for n, text in enumerate(texts, 1)],
        "as_of": AS_OF,
    }


def mixed(count: int, first: int = 0) -> Iterator[dict[str, Any]]:
    """Typical requests of both languages in turn and of all kinds of answers, each different and made when asked for."""
    kinds = [(language, answer) for answer in ANSWERS for language in LANGUAGES]
    for seed in range(first, first + count):
        language, answer = kinds[seed % len(kinds)]
        yield request(language, "typical", answer, seed)


Chosen = list[tuple[int, Stated]]


def _typical(language: str, seed: int, draw: random.Random) -> tuple[list[list[Passage]], Chosen]:
    """A topic, the other one of its kind, and one of another kind; two facts of the first and one of each other."""
    count = len(topics(language))
    first = seed % count
    third = draw.choice([n for n in range(count) if n not in (first, first ^ 1)])
    parts = [[passage(language, n, draw)] for n in (first, first ^ 1, third)]
    chosen = [(1, fact) for fact in draw.sample(parts[0][0].facts, 2)]
    chosen += [(n, draw.choice(parts[n - 1][0].facts)) for n in (2, 3)]
    return parts, chosen


def _long(language: str, draw: random.Random) -> tuple[list[list[Passage]], Chosen]:
    """All topics, two to a passage, and a fact of each."""
    order = draw.sample(range(len(topics(language))), len(topics(language)))
    parts = [[passage(language, n, draw) for n in order[k : k + 2]] for k in range(0, len(order), 2)]
    chosen = [(n, draw.choice(p.facts)) for n, part in enumerate(parts, 1) for p in part]
    return parts, chosen


def _draft(chosen: Chosen, answer: Answer, draw: random.Random) -> str:
    """The facts in a row, each with its citation but for `uncited`; one of them with a wrong figure where asked for."""
    changed = draw.choice([k for k, (_, fact) in enumerate(chosen) if fact.wrong != fact.text])
    sentences: list[str] = []
    for k, (source, fact) in enumerate(chosen):
        text = fact.otherwise if answer == "paraphrased" else fact.text
        if answer == "wrong figure" and k == changed:
            text = fact.wrong
        sentences.append(text if answer == "uncited" else f"{text.removesuffix('.')} [{source}].")
    return " ".join(sentences)


def prose(language: str, characters: int, seed: int = 0) -> str:
    """Exactly so many characters of paragraphs, each of sentences of several topics with numbers of their own."""
    draw = random.Random(f"{language} prose {seed}")
    paragraphs: list[str] = []
    length = 0
    while length < characters:
        drawn = [passage(language, n, draw) for n in draw.sample(range(len(topics(language))), 4)]
        sentences = [s.text for p in drawn for s in p.sentences]
        paragraphs.append(" ".join(draw.sample(sentences, 10)))
        length += len(paragraphs[-1]) + 2
    return "\n\n".join(paragraphs)[:characters]
