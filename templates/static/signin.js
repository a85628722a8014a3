// Makes the pages of signing in quicker: a code in the address goes into its field and leaves the address bar, and a
// passkey does instead of a password. Every page works without it, but for passkeys, which need a script.

const UNREACHED = "The server did not answer. Load this page again to see how things stand.";
const NOT_DONE = "The passkey was not used. Try again, or go on without it.";

const form = document.querySelector("form[data-code]");
if (form && location.hash.length > 1) {
  const input = document.getElementById(form.dataset.code);
  input.value = location.hash.slice(1);
  input.closest(".field").hidden = true;
  history.replaceState(null, "", location.pathname);
  if ("goes" in form.dataset) form.requestSubmit();
  form.querySelector("input[type=password]")?.focus();
}

function show(words) {
  const notice = document.querySelector("main template").content.cloneNode(true).firstElementChild;
  notice.querySelector("p:last-child").textContent = words;
  document.getElementById("answer").replaceChildren(notice);
  notice.focus();
}

const toBytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
const toText = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

class Refusal extends Error {}

async function ask(address, csrf, body) {
  const headers = { "content-type": "application/json", accept: "application/json" };
  if (csrf) headers["x-playmaker-csrf"] = csrf;
  let answer;
  try {
    answer = await fetch(address, { method: "POST", headers, body: body && JSON.stringify(body) });
  } catch {
    throw new Refusal(UNREACHED);
  }
  const value = await answer.json();
  // A fresh sign-in is asked for where it is needed, and leads back here.
  if (value.kind === "sign_in_again") location.reload();
  if (!answer.ok) throw new Refusal(value.errors?.[0] ? `This ${value.errors[0].detail}.` : value.detail);
  return value;
}

async function signIn() {
  const asked = await ask("/sign-in/passkey/challenge");
  const publicKey = { ...asked, challenge: toBytes(asked.challenge) };
  const { rawId, response } = await navigator.credentials.get({ publicKey });
  const done = await ask("/sign-in/passkey", null, {
    id: toText(rawId),
    clientDataJSON: toText(response.clientDataJSON),
    authenticatorData: toText(response.authenticatorData),
    signature: toText(response.signature),
    userHandle: response.userHandle ? toText(response.userHandle) : null,
    remember: document.querySelector("input[name=remember]")?.checked ?? false,
  });
  location.assign(done.to);
}

async function add(csrf, name) {
  const asked = await ask("/settings/security/passkeys/challenge", csrf);
  const publicKey = {
    ...asked,
    challenge: toBytes(asked.challenge),
    user: { ...asked.user, id: toBytes(asked.user.id) },
    excludeCredentials: asked.excludeCredentials.map((known) => ({ ...known, id: toBytes(known.id) })),
  };
  const { rawId, response } = await navigator.credentials.create({ publicKey });
  await ask("/settings/security/passkeys", csrf, {
    id: toText(rawId),
    clientDataJSON: toText(response.clientDataJSON),
    authenticatorData: toText(response.getAuthenticatorData()),
    publicKey: toText(response.getPublicKey()),
    algorithm: response.getPublicKeyAlgorithm(),
    name,
  });
  location.reload();
}

function offer(selector, act) {
  const button = document.querySelector(selector);
  if (!button || !window.PublicKeyCredential) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      await act(button);
    } catch (error) {
      show(error instanceof Refusal ? error.message : NOT_DONE);
    } finally {
      button.disabled = false;
    }
  });
}

offer("[data-passkey]", signIn);
offer("[data-add-passkey]", (button) => add(button.dataset.csrf, document.getElementById("passkey-name").value));
