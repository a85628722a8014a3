// Back from a provider: takes what came back out of the address at once, hands it on, and goes to the page of the link.

const UNREACHED = "The server did not answer. Open the link of your agent again to see how things stand.";

const form = document.querySelector("form[data-returned]");

history.replaceState(null, "", location.pathname);

function showNotice(words) {
  const notice = document.querySelector("template").content.cloneNode(true).firstElementChild;
  notice.querySelector("p:last-child").textContent = words;
  document.getElementById("answer").replaceChildren(notice);
  document.querySelector("[data-words]").textContent = "";
  notice.focus();
}

async function finish() {
  const fields = Object.fromEntries(new FormData(form));
  const { csrf, ...body } = fields;
  form.remove();
  document.querySelector("[data-words]").textContent = "Connecting…";
  const headers = { "content-type": "application/json", "x-playmaker-csrf": csrf };
  try {
    const answer = await fetch("/v1/links/finish", { method: "POST", headers, body: JSON.stringify(body) });
    const said = await answer.json();
    if (said.link) location.replace(`/connect/${said.link}`);
    else showNotice(said.detail ?? UNREACHED);
  } catch {
    showNotice(UNREACHED);
  }
}

finish();
