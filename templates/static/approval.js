// Makes the approval page quicker: answers without a reload, time counting down. The page works without it; the server
// alone draws every state, so this only asks for the page that follows and puts it in place.

const TICK_MS = 1000;
const FOLLOW_MS = 2000;
const MINUTE_MS = 60000;
const UNREACHED = "The server did not answer. Load this page again to see how things stand.";

let opened = Date.now();

const main = () => document.querySelector("main");
const link = () => main().dataset.link;

// The page as the server draws it now, in the place of this one.
async function refresh(address) {
  const answer = await fetch(address, { headers: { accept: "text/html" } });
  const drawn = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = drawn.querySelector("main");
  if (!next) throw new Error("no page");
  document.title = drawn.title;
  main().replaceWith(document.adoptNode(next));
  history.replaceState(null, "", address);
  opened = Date.now();
  prepare();
  main().querySelector("h1").focus();
}

function bodyOf(form) {
  const body = {};
  for (const input of form.querySelectorAll("input[data-pointer]")) {
    const several = input.name.startsWith("values.");
    if (several) (body.values ??= {})[input.name.slice("values.".length)] = input.value;
    else body[input.name] = input.value;
    if (input.type === "password") input.value = "";
  }
  return body;
}

function clearFaults() {
  document.getElementById("answer").replaceChildren();
  for (const input of main().querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
  for (const fault of main().querySelectorAll(".fault")) fault.textContent = "";
}

function showNotice(words) {
  const notice = main().querySelector("template").content.cloneNode(true).firstElementChild;
  notice.querySelector("p:last-child").textContent = words;
  document.getElementById("answer").replaceChildren(notice);
  notice.focus();
}

// Each fault beside its field, anything else above the form.
function showProblem(problem) {
  const inputs = [...main().querySelectorAll("input[data-pointer]")];
  let first = null;
  let elsewhere = !problem.errors?.length;
  for (const { pointer, detail } of problem.errors ?? []) {
    const input = inputs.find((candidate) => candidate.dataset.pointer === pointer);
    if (!input) { elsewhere = true; continue; }
    document.getElementById(`${input.id}-error`).textContent = detail;
    input.setAttribute("aria-invalid", "true");
    first ??= input;
  }
  if (elsewhere) showNotice(problem.detail ?? UNREACHED);
  else first.focus();
}

function setBusy(button, busy) {
  for (const each of main().querySelectorAll("button")) each.disabled = busy;
  if (!button?.dataset.busy) return;
  button.dataset.label ??= button.textContent;
  button.textContent = busy ? button.dataset.busy : button.dataset.label;
}

async function send(form, button) {
  const step = form.dataset.step;
  const address = `/connect/${link()}`;
  const headers = { "content-type": "application/json", "x-playmaker-csrf": form.elements.csrf.value };
  const body = JSON.stringify(step === "credential" ? bodyOf(form) : {});
  clearFaults();
  setBusy(button, true);
  try {
    const answer = await fetch(`/v1/links/${link()}/${step}`, { method: "POST", headers, body });
    if (answer.ok && step === "start") {
      location.assign((await answer.json()).authorize_url);
      return;
    }
    if (answer.ok || answer.status === 404) await refresh(address);
    else {
      const problem = await answer.json();
      setBusy(button, false);
      showProblem(problem);
    }
  } catch {
    setBusy(button, false);
    showNotice(UNREACHED);
  }
}

function leftInWords(ms) {
  const minutes = Math.floor(ms / MINUTE_MS);
  if (minutes === 0) return "less than a minute left";
  return minutes === 1 ? "1 minute left" : `${minutes} minutes left`;
}

// Once the time is over the server is asked what now holds; while a request is under way it is left alone.
let asking = false;
async function tick() {
  const page = main();
  if (!page.dataset.leftMs || asking) return;
  const left = Number(page.dataset.leftMs) - (Date.now() - opened);
  const words = leftInWords(Math.max(left, 0));
  const shown = page.querySelector("[data-left]");
  if (shown.textContent !== words) shown.textContent = words;
  if (left > 0 || page.querySelector("button:disabled")) return;
  asking = true;
  try {
    await refresh(`/connect/${link()}`);
  } catch {
    delete page.dataset.leftMs;
    showNotice("The ten minutes are over. Ask your agent to remove the connection and add it again.");
  }
  asking = false;
}

// While the person is at the provider in another tab, the page follows what becomes of it.
async function follow() {
  if (main().dataset.state !== "started" || main().querySelector("button:disabled") || asking) return;
  asking = true;
  try {
    const answer = await fetch(`/v1/links/${link()}`);
    if (!answer.ok || (await answer.json()).state !== "started") await refresh(`/connect/${link()}`);
  } catch {
    // The next look may work.
  }
  asking = false;
}

// What only works with script is shown only now.
function prepare() {
  const until = main().querySelector("[data-until]");
  if (until) until.hidden = true;
  const close = main().querySelector("[data-close]");
  if (!close) return;
  close.hidden = false;
  close.addEventListener("click", () => {
    window.close();
    main().querySelector("[data-closed]").textContent = "Your browser keeps this tab open. You can close it yourself.";
  });
}

document.addEventListener("submit", (event) => {
  if (!event.target.dataset.step) return;
  event.preventDefault();
  send(event.target, event.submitter);
});
prepare();
setInterval(tick, TICK_MS);
setInterval(follow, FOLLOW_MS);
