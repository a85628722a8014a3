// Makes the copy buttons work, and shows them only where they do.

const SHOWN_MS = 2000;

async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  const label = button.firstChild;
  const before = label.data;
  try {
    await navigator.clipboard.writeText(source.textContent);
    label.data = "Copied";
  } catch {
    getSelection().selectAllChildren(source);
    label.data = "Selected";
  }
  setTimeout(() => { label.data = before; }, SHOWN_MS);
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", () => { if (!button.firstChild.data.endsWith("ed")) copy(button); });
}
