// Chat: what was let through is shown as it comes; nothing of it is ever put in as markup. The talk is kept in this window, and nowhere
// else: it outlives a reload and another language, and ends with the window, the session or a click.
import { SignedOut, fresh, mended, session, signedIn, status, trouble, write } from "./page.js";

const KEPT = "stillme-talk";
const MOST_SENT = 60; // turns that go along with a question
const FLAGGED = ["unsupported", "contradicted"];
const talk = document.querySelector("form[data-chat]");
const log = document.getElementById("talk");
const list = log.querySelector("ol");
const field = talk.elements.message;
const sources = document.getElementById("sources");
const empty = [...sources.childNodes];
let records = []; // of each question its text, the events that came, and what went wrong

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

// one turn

function begin(question) {
  const turn = fresh("turn");
  write(turn.querySelector(".asked"), question);
  turn.said = [];
  list.append(turn);
  return turn;
}
function showSources(given) {
  const made = given.map((each, n) => {
    const one = fresh("source");
    one.querySelector(".number").textContent = n + 1;
    write(one.querySelector("bdi"), each.source_id);
    write(one.querySelector(".title"), each.title ?? "");
    write(one.querySelector(".text"), each.text);
    return one;
  });
  if (made.length) sources.replaceChildren(...made);
}
function offerSources(turn, given) {
  const button = turn.querySelector("[data-sources]");
  button.hidden = given.length === 0;
  button.addEventListener("click", () => {
    showSources(given);
    document.getElementById("sources-title").scrollIntoView({ block: "nearest" });
  });
  showSources(given);
}
function say(turn, text) {
  const piece = document.createElement("span");
  piece.className = "piece";
  write(piece, text);
  turn.said.push(text);
  turn.querySelector(".answered").append(piece);
}
function withhold(turn, verdict) {
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
function flag(turn, claims) {
  const flagged = turn.querySelector(".flagged");
  flagged.hidden = claims.length === 0;
  flagged.querySelector("ul").replaceChildren(...claims.map((claim) => {
    const item = document.createElement("li");
    write(item, claim.text);
    return item;
  }));
}
function conclude(turn, verdict) {
  if (verdict.delivery.stopped && turn.said.length) withhold(turn, verdict);
  flag(turn, verdict.delivery.stopped ? [] : verdict.claims.filter((claim) => FLAGGED.includes(claim.status)));
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
}
const SHOW = { sources: (turn, data) => offerSources(turn, data.sources), text: (turn, data) => say(turn, data.text), verdict: conclude };
function end(turn, record, failure) {
  turn.querySelector(".waiting").remove();
  if (record.problem) turn.append(trouble(failure, record.problem));
  record.answer = turn.said.join("") || turn.instead || "";
}

// what is kept

const hasVerdict = (record) => record.events.some(([kind]) => kind === "verdict");
const slim = ([kind, data]) => {
  if (kind !== "verdict") return [kind, data];
  const { decision, verified, delivery, validator_trace_id, claims } = data;
  return [kind, { decision, verified, delivery, validator_trace_id, claims: claims.map(({ status: is, text, end: at }) => ({ status: is, text, end: at })) }];
};
function keep() {
  for (let kept = records; ; kept = kept.slice(Math.ceil(kept.length / 2))) {
    try {
      sessionStorage.setItem(KEPT, JSON.stringify({ who: talk.dataset.who, message: field.value, records: kept }));
      return;
    } catch { // the window holds no more: the oldest half goes
      if (!kept.length) return;
    }
  }
}
function restore() {
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
  if (kept?.who !== talk.dataset.who) { sessionStorage.removeItem(KEPT); return; }
  field.value ||= kept.message;
  records = kept.records;
  for (const record of records) {
    const turn = begin(record.question);
    for (const [kind, data] of record.events) SHOW[kind]?.(turn, data);
    if (!hasVerdict(record)) record.problem ||= log.dataset.broken;
    end(turn, record);
  }
  list.lastElementChild?.scrollIntoView({ block: "nearest" });
}
const turnsSoFar = () => records.filter((record) => record.answer && !record.problem).flatMap((record) => [
  { role: "user", content: record.question },
  { role: "assistant", content: record.answer },
]).slice(-MOST_SENT);

// asking

async function follow(turn, record, response) {
  for await (const event of eventsOf(response)) {
    record.events.push(slim(event));
    SHOW[event[0]]?.(turn, event[1]);
    turn.scrollIntoView({ block: "nearest" });
  }
  return hasVerdict(record) ? "" : log.dataset.broken;
}
async function answer(turn, record, body) {
  const response = signedIn(await fetch(talk.action, { method: "POST", body, headers: { "x-fragment": "1" } }));
  return response.ok ? follow(turn, record, response) : (await response.json()).detail || status.dataset.failed;
}
async function ask(question) {
  talk.elements.conversation.value = JSON.stringify(turnsSoFar());
  const body = new URLSearchParams(new FormData(talk));
  const record = { question, events: [], problem: "" };
  const turn = begin(question);
  records.push(record);
  turn.scrollIntoView({ block: "nearest" });
  let failure;
  try { record.problem = await answer(turn, record, body); } catch (error) { failure = error; record.problem = status.dataset.failed; }
  end(turn, record, failure);
  if (!record.problem) field.value = "";
  if (failure instanceof SignedOut) mended();
  turn.scrollIntoView({ block: "nearest" });
}
const anew = talk.querySelector("[data-new]");
const offerAnew = () => { anew.hidden = records.length === 0; };
talk.addEventListener("submit", async (event) => {
  event.preventDefault();
  const question = field.value.trim();
  if (!question || talk.busy) return;
  talk.busy = true;
  await ask(question);
  talk.busy = false;
  keep();
  offerAnew();
  field.focus({ preventScroll: true });
});
field.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); talk.requestSubmit(); }
});
anew.addEventListener("click", () => {
  if (!anew.dataset.asked || talk.busy) return; // the second click does it
  records = [];
  list.replaceChildren();
  sources.replaceChildren(...empty);
  keep();
  anew.blur();
  offerAnew();
  field.focus();
});
addEventListener("pagehide", () => { if (!session.isOver) keep(); });
restore();
offerAnew();
