// Review: one key a label; a label that could not be sent waits in this browser and is sent again.
import { parsed, write } from "./page.js";

const desk = document.querySelector("form[data-review]");
if (desk) {
  const OUTBOX = `stillme-outbox ${desk.dataset.who}`; // a label is sent under the name it was given under
  const waitingLabels = () => JSON.parse(localStorage.getItem(OUTBOX) ?? "[]");
  const keep = (labels) => localStorage.setItem(OUTBOX, JSON.stringify(labels));
  const box = document.querySelector(".outbox");
  const forget = (fields) => keep(waitingLabels().filter((each) => JSON.stringify(each) !== JSON.stringify(fields)));
  let soon, last;
  const showBox = () => {
    const n = waitingLabels().length;
    box.hidden = n === 0;
    box.querySelector("b").textContent = n;
    clearTimeout(soon);
    if (n) soon = setTimeout(goOn, 5000);
  };
  const sendEach = async () => {
    for (const fields of waitingLabels()) {
      const body = new URLSearchParams(fields);
      body.set("form_token", desk.elements.form_token.value);
      const response = await fetch(desk.action, { method: "POST", body, headers: { "x-fragment": "1" } });
      if (response.redirected) { location.assign("/sign-in?to=%2Freview"); return false; }
      const isRefused = response.status === 404 || response.status === 422;
      if (!response.ok && !isRefused) return false;
      forget(fields);
      last = Object.fromEntries(fields).trace;
      if (isRefused) {
        const note = document.querySelector(".refused");
        write(note.querySelector(".words"), (await parsed(response)).querySelector(".lead")?.textContent ?? "");
        note.hidden = false;
        return false;
      }
    }
    return true;
  };
  let sending; // one at a time: the outbox is emptied in order
  const send = () => { sending ??= sendEach().catch(() => false).finally(() => { sending = undefined; showBox(); }); return sending; };
  const goOn = async () => {
    if (!(await send())) return;
    const next = new URL(desk.dataset.next, location.href);
    if (last) next.searchParams.set("last", last);
    location.assign(next);
  };
  // What is typed and ticked outlives the page, until it is sent.
  const HALF_DONE = `stillme-half-done ${desk.dataset.who}`;
  const boxes = [...desk.querySelectorAll("input[type=checkbox][name]")];
  desk.addEventListener("input", () => {
    const ticked = boxes.filter((each) => each.checked).map((each) => `${each.name} ${each.value}`);
    localStorage.setItem(HALF_DONE, JSON.stringify({ trace: desk.elements.trace.value, note: desk.elements.note.value, ticked }));
  });
  const before = JSON.parse(localStorage.getItem(HALF_DONE) ?? "null");
  if (before?.trace === desk.elements.trace.value && (before.note || before.ticked.length)) {
    desk.elements.note.value = before.note;
    for (const each of boxes) each.checked = before.ticked.includes(`${each.name} ${each.value}`);
    document.querySelector(".kept").hidden = false;
  }
  // Keys of one sign can be turned off, for whoever speaks to the computer (WCAG 2.1.4).
  const keysOn = desk.querySelector(".shortcuts input");
  keysOn.checked = localStorage.getItem("stillme-keys") !== "off";
  keysOn.parentElement.hidden = false;
  keysOn.addEventListener("change", () => localStorage.setItem("stillme-keys", keysOn.checked ? "on" : "off"));
  desk.addEventListener("submit", async (event) => {
    const button = event.submitter;
    if (button?.name !== "label") return;
    event.preventDefault();
    const fields = [...new FormData(desk, button)].filter(([name]) => name !== "form_token");
    const trace = desk.elements.trace.value; // one that still waits was not said to anybody: the new one takes its place
    keep([...waitingLabels().filter((each) => Object.fromEntries(each).trace !== trace), fields]);
    localStorage.removeItem(HALF_DONE);
    await sending;
    goOn();
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("textarea, input:not([type=checkbox]), select")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (!keysOn.checked) return;
    const claim = event.shiftKey && /^Digit([1-9])$/.exec(event.code)?.[1];
    const target = desk.querySelector(claim ? `[name=unsupported][value="${claim}"]` : `[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
    if (!target) return;
    event.preventDefault();
    if (target.matches("textarea")) target.focus(); else target.click();
  });
  addEventListener("online", () => { if (waitingLabels().length) goOn(); });
  document.querySelector(".retry").addEventListener("click", goOn);
  if (waitingLabels().length) goOn();
}
