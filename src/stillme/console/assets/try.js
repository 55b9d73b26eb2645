// Try it: the verdict follows what is typed.
import { SignedOut, copyButtons, mended, part, status, trouble } from "./page.js";

const live = document.querySelector("form[data-live]");
if (live) {
  const pane = document.getElementById("verdict");
  let waiting;
  document.querySelector(".live-hint").hidden = false;
  const verify = async () => {
    live.stop?.abort();
    live.stop = new AbortController();
    pane.classList.add("stale");
    pane.setAttribute("aria-busy", "true");
    try {
      const found = await part(live);
      const open = [...pane.querySelectorAll("details")].map((each) => each.open);
      pane.replaceChildren(...found.body.childNodes);
      [...pane.querySelectorAll("details")].forEach((each, n) => { each.open = Boolean(open[n]); });
      copyButtons(pane);
    } catch (error) {
      if (error.name === "AbortError") return;
      pane.replaceChildren(trouble(error, status.dataset.failed));
      if (error instanceof SignedOut) mended(verify);
    }
    pane.classList.remove("stale");
    pane.removeAttribute("aria-busy");
  };
  const soon = () => { clearTimeout(waiting); waiting = setTimeout(verify, 350); };
  live.addEventListener("input", soon);
  live.addEventListener("submit", (event) => {
    if ((event.submitter?.value ?? "verify") !== "verify") return;
    event.preventDefault();
    clearTimeout(waiting);
    verify();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); clearTimeout(waiting); verify(); }
  });
}
