// What makes reading and working quicker; every page reads without it. No text of a verdict is ever put in as markup here:
// parts of pages come from the server, which escapes them.

const status = document.getElementById("status");
const tell = (words) => { status.textContent = ""; requestAnimationFrame(() => { status.textContent = words; }); };

function localTimes(root) {
  const shown = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
  const whole = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "full", timeStyle: "long" });
  for (const each of root.querySelectorAll("time[datetime]")) {
    const at = new Date(each.dateTime);
    if (!Number.isNaN(at.valueOf())) { each.textContent = shown.format(at); each.title = whole.format(at); }
  }
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

function copyButtons(root) {
  for (const button of root.querySelectorAll("[data-copy]")) button.hidden = false;
}
document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.closest(".copyable").querySelector("pre").textContent);
  tell(status.dataset.copied);
});

async function part(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  const response = await fetch(form.action, { method: "POST", body, headers: { "x-fragment": "1" }, signal: form.stop?.signal });
  if (response.redirected && new URL(response.url).pathname === "/sign-in") { location.assign(response.url); throw new Error("signed out"); }
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

// Try it: the verdict follows what is typed.
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
      const note = document.createElement("p");
      note.className = "notice bad";
      note.textContent = pane.dataset.failed;
      pane.replaceChildren(note);
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

// Chat: what was let through is shown as it comes; nothing of it is ever put in as markup.
const fresh = (name) => document.getElementById(name).content.firstElementChild.cloneNode(true);
async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const kind = /^event: (\w+)/.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (kind && data) yield [kind, JSON.parse(data)];
    }
  }
}
const talk = document.querySelector("form[data-chat]");
if (talk) {
  const log = document.getElementById("talk");
  const turns = [];
  const showSources = (given) => {
    const list = given.map((each, n) => {
      const made = fresh("source");
      made.querySelector(".number").textContent = n + 1;
      made.querySelector("bdi").textContent = each.source_id;
      made.querySelector(".title").textContent = each.title ?? "";
      made.querySelector(".text").textContent = each.text;
      return made;
    });
    if (list.length) document.getElementById("sources").replaceChildren(...list);
  };
  const conclude = (turn, verdict) => {
    const pieces = turn.querySelectorAll(".piece");
    if (verdict.delivery.stopped && pieces.length) {
      const last = pieces[pieces.length - 1];
      const instead = turn.querySelector(".instead");
      instead.textContent = last.textContent.trim();
      instead.hidden = false;
      last.remove();
      const hidden = verdict.claims.filter((claim) => claim.end > verdict.delivery.released[1]).length;
      const words = turn.querySelector(".withheld .words");
      words.textContent = words.dataset.words.replace("#", hidden);
      turn.querySelector(".withheld").hidden = hidden === 0;
    }
    const shown = verdict.delivery.stopped ? [] : verdict.claims.filter((claim) => ["unsupported", "contradicted"].includes(claim.status));
    const flagged = turn.querySelector(".flagged");
    flagged.hidden = shown.length === 0;
    flagged.querySelector("ul").replaceChildren(...shown.map((claim) => {
      const item = document.createElement("li");
      item.textContent = claim.text;
      return item;
    }));
    turn.querySelector(`[data-decision="${CSS.escape(verdict.decision)}"]`)?.removeAttribute("hidden");
    turn.querySelector("[data-unverified]").hidden = verdict.verified;
    for (const each of turn.querySelectorAll("[data-status]")) {
      const count = verdict.claims.filter((claim) => claim.status === each.dataset.status).length;
      each.querySelector("b").textContent = count;
      each.hidden = count === 0;
    }
    const trace = turn.querySelector("[data-trace]");
    if (trace && verdict.validator_trace_id) {
      trace.href = `/traces/${encodeURIComponent(verdict.validator_trace_id)}`;
      trace.hidden = false;
    }
  };
  const follow = async (turn, response) => {
    let ended = false;
    for await (const [kind, data] of eventsOf(response)) {
      if (kind === "sources") showSources(data.sources);
      if (kind === "text") {
        const piece = document.createElement("span");
        piece.className = "piece";
        piece.textContent = data.text;
        turn.querySelector(".answered").append(piece);
      }
      if (kind === "verdict") { ended = true; conclude(turn, data); }
    }
    return ended;
  };
  talk.addEventListener("submit", async (event) => {
    event.preventDefault();
    const field = talk.elements.message;
    const question = field.value.trim();
    if (!question || talk.busy) return;
    talk.busy = true;
    talk.elements.conversation.value = JSON.stringify(turns);
    const body = new URLSearchParams(new FormData(talk));
    const turn = fresh("turn");
    turn.querySelector(".asked").textContent = question;
    log.querySelector("ol").append(turn);
    turn.scrollIntoView({ block: "nearest" });
    let problem = log.dataset.failed;
    try {
      const response = await fetch(talk.action, { method: "POST", body, headers: { "x-fragment": "1" } });
      if (response.redirected) { location.assign(response.url); return; }
      if (response.ok) {
        problem = (await follow(turn, response)) ? "" : log.dataset.broken;
        if (!problem) field.value = "";
      } else problem = (await response.json()).detail ?? problem;
    } catch { /* the words for it stand ready */ }
    turn.querySelector(".waiting").remove();
    if (problem) {
      const note = document.createElement("p");
      note.className = "notice bad";
      note.textContent = problem;
      turn.append(note);
    } else {
      turns.push({ role: "user", content: question }, { role: "assistant", content: turn.querySelector(".answered").textContent || turn.querySelector(".instead").textContent });
    }
    talk.busy = false;
    field.focus();
  });
  talk.elements.message.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); talk.requestSubmit(); }
  });
}

// Documents: dropped or chosen, each with its progress.
const drop = document.querySelector("form[data-drop]");
if (drop) {
  const token = drop.elements.form_token.value;
  const send = (file) => new Promise((done) => {
    const row = fresh("upload");
    const bar = row.querySelector("progress");
    const words = row.querySelector(".words");
    row.querySelector(".file-name").textContent = file.name;
    drop.querySelector(".uploads").append(row);
    const request = new XMLHttpRequest();
    const body = new FormData();
    body.append("form_token", token);
    body.append("file", file);
    request.open("POST", drop.action);
    request.setRequestHeader("x-fragment", "1");
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => { if (event.lengthComputable) bar.value = 0.9 * event.loaded / event.total; });
    request.addEventListener("loadend", () => {
      const result = request.response?.files?.[0];
      bar.value = 1;
      words.textContent = result?.words ?? document.getElementById("talk").dataset.failed;
      row.classList.toggle("failed", !result || "problem" in result);
      done(Boolean(result) && !("problem" in result));
    });
    request.send(body);
  });
  const sendAll = async (files) => {
    let all = true;
    for (const file of files) all = (await send(file)) && all;
    if (all && files.length) location.assign("/chat#documents"), location.reload();
  };
  drop.elements.file.addEventListener("change", () => { sendAll([...drop.elements.file.files]); drop.elements.file.value = ""; });
  drop.querySelector("button").parentElement.hidden = true;
  drop.addEventListener("submit", (event) => event.preventDefault());
  for (const kind of ["dragover", "dragenter"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => { event.preventDefault(); sendAll([...event.dataTransfer.files]); });
}
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-sure]");
  if (!button || button.dataset.asked) return;
  event.preventDefault(); // the second click does it
  button.dataset.asked = "1";
  button.textContent = button.dataset.sure;
});

// Policy: the text is checked as it is typed, and the numbers of its lines stand beside it.
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
      found.textContent = found.dataset.failed;
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
}

// Review: one key a label; a label that could not be sent waits in this browser and is sent again.
const desk = document.querySelector("form[data-review]");
if (desk) {
  const OUTBOX = `stillme-outbox ${desk.dataset.who}`; // a label is sent under the name it was given under
  const waitingLabels = () => JSON.parse(localStorage.getItem(OUTBOX) ?? "[]");
  const keep = (labels) => localStorage.setItem(OUTBOX, JSON.stringify(labels));
  const box = document.querySelector(".outbox");
  const showBox = () => { const n = waitingLabels().length; box.hidden = n === 0; box.querySelector("b").textContent = n; };
  const send = async () => {
    for (const fields of waitingLabels()) {
      const body = new URLSearchParams(fields);
      body.set("form_token", desk.elements.form_token.value);
      let response;
      try { response = await fetch(desk.action, { method: "POST", body, headers: { "x-fragment": "1" } }); } catch { showBox(); return false; }
      if (response.redirected) { location.assign("/sign-in?to=%2Freview"); return false; }
      if (!response.ok && response.status !== 404 && response.status !== 422) { showBox(); return false; }
      keep(waitingLabels().slice(1));
    }
    showBox();
    return true;
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
    keep([...waitingLabels(), fields]);
    localStorage.removeItem(HALF_DONE);
    showBox();
    if (await send()) location.assign(desk.dataset.next);
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
  addEventListener("online", send);
  document.querySelector(".retry")?.addEventListener("click", async () => { if (await send()) location.reload(); });
  showBox();
  if (waitingLabels().length) send().then((done) => { if (done) location.reload(); });
}

for (const each of document.querySelectorAll(".to-end")) each.scrollLeft = each.scrollWidth; // the newest days stand at the end
localTimes(document);
copyButtons(document);
