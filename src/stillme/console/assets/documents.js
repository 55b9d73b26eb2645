// Documents: dropped or chosen, each with its progress. The list is made anew beside the talk, which stays.
import { SignedOut, fresh, mended, parsed, signedIn, status, tell, trouble } from "./page.js";

async function listAgain() {
  const page = await parsed(signedIn(await fetch(location.href)));
  for (const name of ["held", "held-count"]) document.getElementById(name).replaceChildren(...page.getElementById(name).childNodes);
}
document.getElementById("held")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  try {
    signedIn(await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) }));
    await listAgain();
    tell(status.dataset.removed);
  } catch (error) {
    form.replaceWith(trouble(error, status.dataset.failed));
    if (error instanceof SignedOut) mended(listAgain);
  }
  document.getElementById("q").focus();
});
const drop = document.querySelector("form[data-drop]");
if (drop) {
  const send = (file) => new Promise((done) => {
    const row = fresh("upload");
    const bar = row.querySelector("progress");
    const words = row.querySelector(".words");
    row.querySelector(".file-name").textContent = file.name;
    drop.querySelector(".uploads").append(row);
    const request = new XMLHttpRequest();
    const body = new FormData();
    body.append("form_token", drop.elements.form_token.value);
    body.append("file", file);
    request.open("POST", drop.action);
    request.setRequestHeader("x-fragment", "1");
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => { if (event.lengthComputable) bar.value = 0.9 * event.loaded / event.total; });
    request.addEventListener("loadend", () => {
      const result = request.response?.files?.[0];
      bar.value = 1;
      const isSignedOut = new URL(request.responseURL || location.href).pathname === "/sign-in";
      words.replaceChildren(result?.words ?? trouble(isSignedOut ? new SignedOut() : null, status.dataset.failed));
      if (isSignedOut) mended();
      row.classList.toggle("failed", !result || "problem" in result);
      done(Boolean(result) && !("problem" in result));
    });
    request.send(body);
  });
  const sendAll = async (files) => {
    let any = false;
    for (const file of files) any = (await send(file)) || any;
    if (any) await listAgain().catch(() => {});
  };
  drop.elements.file.addEventListener("change", () => { sendAll([...drop.elements.file.files]); drop.elements.file.value = ""; });
  drop.querySelector("button").parentElement.hidden = true;
  drop.classList.add("live");
  drop.addEventListener("submit", (event) => event.preventDefault());
  for (const kind of ["dragover", "dragenter"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => { event.preventDefault(); sendAll([...event.dataTransfer.files]); });
}
