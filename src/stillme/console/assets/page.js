// What makes reading and working quicker on every page, each of which reads without it. No text of a verdict is ever put in as markup:
// parts of pages come from the server, which escapes them.

export const status = document.getElementById("status");
export const tell = (words) => { status.textContent = ""; requestAnimationFrame(() => { status.textContent = words; }); };
export const parsed = async (response) => new DOMParser().parseFromString(await response.text(), "text/html");

// Characters that nobody sees stand as their codes here too, as on what the server writes.
const HIDDEN = /([\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}]|(?![\n\t])\p{C})/u;
export function write(element, text) {
  const pieces = text.replaceAll("\r\n", "\n").split(HIDDEN).map((piece, n) => {
    if (n % 2 === 0) return piece;
    const code = document.createElement("i");
    code.textContent = `U+${piece.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
    return code;
  });
  element.replaceChildren(...pieces);
}

// What went wrong, as a note. Where the session has ended nothing that was typed is lost: signing in, in another window, mends this page.
export class SignedOut extends Error {}
export const signedIn = (response) => {
  if (response.redirected && new URL(response.url).pathname === "/sign-in") throw new SignedOut();
  return response;
};
export function trouble(error, words) {
  const note = document.createElement("p");
  note.className = "notice bad";
  note.textContent = error instanceof SignedOut ? `${status.dataset.signedOut} ` : words;
  if (error instanceof SignedOut) {
    const link = document.createElement("a");
    link.href = "/sign-in";
    link.target = "_blank";
    link.textContent = status.dataset.signIn;
    note.append(link);
  }
  return note;
}
async function renew(again) {
  const token = (await parsed(await fetch("/sign-in"))).querySelector("[name=form_token]").value;
  for (const each of document.querySelectorAll("[name=form_token]")) each.value = token;
  again?.();
}
// A page that is open to somebody tells the other windows so.
export const mended = (again) => addEventListener("storage", () => renew(again).catch(() => {}), { once: true });
const who = document.querySelector("form.who");
if (who) localStorage.setItem("stillme-open", Date.now());
// Whoever comes next at this machine finds nothing of what a window held.
export const session = { isOver: false };
who?.addEventListener("submit", () => { session.isOver = true; sessionStorage.clear(); });

// Times stand in the reader's zone, in the language of the page and, where the browser knows one, as its country writes them; days are of UTC.
function localTimes() {
  const language = document.documentElement.lang;
  const place = navigator.languages.find((each) => each.split("-")[0] === language) ?? language;
  const form = (options) => new Intl.DateTimeFormat(place, options);
  const { month } = status.dataset;
  const shown = form({ year: "numeric", month, day: "numeric", hour: "numeric", minute: "2-digit" });
  const whole = form({ dateStyle: "full", timeStyle: "long" });
  for (const each of document.querySelectorAll("time[datetime]")) {
    const at = new Date(each.dateTime);
    if (!Number.isNaN(at.valueOf())) { each.textContent = shown.format(at); each.title = whole.format(at); }
  }
  const day = form({ day: "numeric", month, timeZone: "UTC" });
  for (const each of document.querySelectorAll("[data-day]")) each.textContent = day.format(new Date(each.dataset.day));
}

// A claim and the words of the source that decide it carry one class, c-N.
const tie = (element) => {
  for (let at = element; at && at !== document.body; at = at.parentElement) {
    const found = [...at.classList].filter((name) => /^c-\d+$/.test(name));
    if (found.length) return found;
  }
  return [];
};
let lit = [];
function light(element) {
  const found = element ? tie(element) : [];
  const names = found.length ? found : tie(document.activeElement); // a page that scrolls under the pointer keeps the focus lit
  for (const each of lit) each.classList.remove("lit");
  lit = names.flatMap((name) => [...document.getElementsByClassName(name)]);
  for (const each of lit) each.classList.add("lit");
}
document.addEventListener("pointerover", (event) => light(event.target));
document.addEventListener("focusin", (event) => light(event.target));
document.addEventListener("focusout", () => requestAnimationFrame(() => light(null)));

export function copyButtons(root) {
  for (const button of root.querySelectorAll("[data-copy]")) button.hidden = false;
}
document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.closest(".copyable").querySelector("pre").textContent);
  tell(status.dataset.copied);
});

// What stands ready in a page to be filled.
export const fresh = (name) => document.getElementById(name).content.firstElementChild.cloneNode(true);

export async function part(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  const response = await fetch(form.action, { method: "POST", body, headers: { "x-fragment": "1" }, signal: form.stop?.signal });
  return parsed(signedIn(response));
}

// A look is put on at once; another language keeps what was typed.
const typed = document.querySelector("form[data-typed]");
typed?.addEventListener("input", () => { typed.dataset.typed = "yes"; });
document.querySelector("form.choice").addEventListener("submit", async (event) => {
  event.preventDefault();
  const { form, name, value } = event.submitter;
  try {
    await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form, event.submitter)), redirect: "manual" });
  } catch {
    tell(status.dataset.failed);
    return;
  }
  if (name === "theme") {
    document.documentElement.dataset.theme = value;
    document.querySelector("meta[name=color-scheme]").content = value === "auto" ? "light dark" : value;
    for (const each of form.querySelectorAll("[name=theme]")) each.toggleAttribute("aria-pressed", false);
    event.submitter.setAttribute("aria-pressed", "true");
  } else if (typed?.dataset.typed) typed.submit();
  else location.assign(form.elements.back.value);
});

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-sure]");
  if (!button || button.dataset.asked) return;
  event.preventDefault(); // the second click does it
  const [words, label] = [button.textContent, button.getAttribute("aria-label")];
  button.dataset.asked = "1";
  button.textContent = button.dataset.sure;
  if (label) button.setAttribute("aria-label", label.replace(words, button.dataset.sure));
  button.addEventListener("blur", () => {
    delete button.dataset.asked;
    button.textContent = words;
    if (label) button.setAttribute("aria-label", label);
  }, { once: true });
});

for (const each of document.querySelectorAll(".to-end")) each.scrollLeft = each.scrollWidth; // the newest days stand at the end
localTimes();
for (const each of document.querySelectorAll("[data-plain]")) each.hidden = true; // for whoever reads without scripts
copyButtons(document);
