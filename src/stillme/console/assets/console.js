// What makes reading and working quicker; every page reads without it. No text of a verdict is ever put in as markup here:
// parts of pages come from the server, which escapes them.

const status = document.getElementById("status");
const tell = (words) => { status.textContent = ""; requestAnimationFrame(() => { status.textContent = words; }); };
const parsed = async (response) => new DOMParser().parseFromString(await response.text(), "text/html");

// Characters that nobody sees stand as their codes here too, as on what the server writes.
const HIDDEN = /([\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}]|(?![\n\t])\p{C})/u;
function write(element, text) {
  const pieces = text.replaceAll("\r\n", "\n").split(HIDDEN).map((piece, n) => {
    if (n % 2 === 0) return piece;
    const code = document.createElement("i");
    code.textContent = `U+${piece.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
    return code;
  });
  element.replaceChildren(...pieces);
}

// What went wrong, as a note. Where the session has ended nothing that was typed is lost: signing in, in another window, mends this page.
class SignedOut extends Error {}
const signedIn = (response) => {
  if (response.redirected && new URL(response.url).pathname === "/sign-in") throw new SignedOut();
  return response;
};
function trouble(error, words) {
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
const mended = (again) => addEventListener("storage", () => renew(again).catch(() => {}), { once: true });
if (document.querySelector("form.who")) localStorage.setItem("stillme-open", Date.now());

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
      write(made.querySelector("bdi"), each.source_id);
      write(made.querySelector(".title"), each.title ?? "");
      write(made.querySelector(".text"), each.text);
      return made;
    });
    if (list.length) document.getElementById("sources").replaceChildren(...list);
  };
  const conclude = (turn, verdict) => {
    if (verdict.delivery.stopped && turn.said.length) {
      const instead = turn.querySelector(".instead");
      turn.instead = turn.said.pop().trim();
      write(instead, turn.instead);
      instead.hidden = false;
      turn.querySelector(".answered").lastChild.remove();
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
      write(item, claim.text);
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
    turn.said = [];
    for await (const [kind, data] of eventsOf(response)) {
      if (kind === "sources") {
        const button = turn.querySelector("[data-sources]");
        button.hidden = data.sources.length === 0;
        button.addEventListener("click", () => { showSources(data.sources); document.getElementById("sources-title").scrollIntoView({ block: "nearest" }); });
        showSources(data.sources);
      }
      if (kind === "text") {
        const piece = document.createElement("span");
        piece.className = "piece";
        write(piece, data.text);
        turn.said.push(data.text);
        turn.querySelector(".answered").append(piece);
      }
      if (kind === "verdict") { ended = true; conclude(turn, data); }
      turn.scrollIntoView({ block: "nearest" });
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
    write(turn.querySelector(".asked"), question);
    log.querySelector("ol").append(turn);
    turn.scrollIntoView({ block: "nearest" });
    let problem = status.dataset.failed, failure;
    try {
      const response = signedIn(await fetch(talk.action, { method: "POST", body, headers: { "x-fragment": "1" } }));
      if (response.ok) {
        problem = (await follow(turn, response)) ? "" : log.dataset.broken;
        if (!problem) field.value = "";
      } else problem = (await response.json()).detail ?? problem;
    } catch (error) { failure = error; }
    turn.querySelector(".waiting").remove();
    if (problem) turn.append(trouble(failure, problem));
    else turns.push({ role: "user", content: question }, { role: "assistant", content: turn.said.join("") || turn.instead || "" });
    if (failure instanceof SignedOut) mended();
    talk.busy = false;
    turn.scrollIntoView({ block: "nearest" });
    field.focus({ preventScroll: true });
  });
  talk.elements.message.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); talk.requestSubmit(); }
  });
}

// Documents: dropped or chosen, each with its progress. The list is made anew beside the talk, which stays.
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
  drop.addEventListener("submit", (event) => event.preventDefault());
  for (const kind of ["dragover", "dragenter"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => { event.preventDefault(); sendAll([...event.dataTransfer.files]); });
}
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-sure]");
  if (!button || button.dataset.asked) return;
  event.preventDefault(); // the second click does it
  const [words, label] = [button.textContent, button.getAttribute("aria-label")];
  button.dataset.asked = "1";
  button.textContent = button.dataset.sure;
  button.setAttribute("aria-label", label.replace(words, button.dataset.sure));
  button.addEventListener("blur", () => { delete button.dataset.asked; button.textContent = words; button.setAttribute("aria-label", label); }, { once: true });
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

// Review: one key a label; a label that could not be sent waits in this browser and is sent again.
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
    keep([...waitingLabels(), fields]);
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

for (const each of document.querySelectorAll(".to-end")) each.scrollLeft = each.scrollWidth; // the newest days stand at the end
localTimes(document);
copyButtons(document);
