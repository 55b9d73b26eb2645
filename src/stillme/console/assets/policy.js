// Policy: the text is checked as it is typed, and the numbers of its lines stand beside it.
import { SignedOut, mended, part, status, trouble } from "./page.js";

const rules = document.querySelector("form[data-policy]");
if (rules) {
  const text = document.getElementById("policy-text");
  const found = document.getElementById("policy-checked");
  const gutter = rules.querySelector(".gutter");
  const number = () => {
    const bad = new Set((found.querySelector(".checked")?.dataset.bad ?? "").split(" ").filter(Boolean));
    const lines = text.value.split("\n").map((_, n) => {
      const each = document.createElement(bad.has(String(n + 1)) ? "b" : "span");
      each.textContent = n + 1;
      if (each.tagName === "B") each.className = "bad";
      return [each, "\n"];
    });
    gutter.replaceChildren(...lines.flat());
    gutter.scrollTop = text.scrollTop;
    text.setAttribute("aria-invalid", String(bad.size > 0));
  };
  const check = async () => {
    rules.stop?.abort();
    rules.stop = new AbortController();
    try {
      found.replaceChildren(...(await part(rules)).body.childNodes);
    } catch (error) {
      if (error.name === "AbortError") return;
      found.replaceChildren(trouble(error, status.dataset.failed));
      if (error instanceof SignedOut) mended(check);
    }
    number();
  };
  let pending;
  text.addEventListener("input", () => { number(); clearTimeout(pending); pending = setTimeout(check, 350); });
  text.addEventListener("scroll", () => { gutter.scrollTop = text.scrollTop; });
  found.addEventListener("click", (event) => {
    const line = Number(event.target.closest?.("[data-line]")?.dataset.line);
    if (!line) return;
    event.preventDefault();
    const start = text.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    const end = text.value.indexOf("\n", start);
    text.focus();
    text.setSelectionRange(start, end < 0 ? text.value.length : end);
  });
  document.querySelector("[data-result]")?.focus();
  // What could not be saved, since the session had ended or the service did not answer, comes back with the file that it was made for.
  const UNSAVED = "stillme-policy";
  const known = rules.elements.known.value;
  rules.addEventListener("submit", () => sessionStorage.setItem(UNSAVED, JSON.stringify({ known, text: text.value, why: rules.elements.why?.value })));
  const unsaved = JSON.parse(sessionStorage.getItem(UNSAVED) ?? "null");
  if (unsaved?.known === known && unsaved.text !== text.value && !text.readOnly) {
    text.value = unsaved.text;
    if (rules.elements.why) rules.elements.why.value = unsaved.why ?? "";
    document.querySelector(".kept").hidden = false;
    check();
  }
  sessionStorage.removeItem(UNSAVED);
}
