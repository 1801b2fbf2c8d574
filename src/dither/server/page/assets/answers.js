// Buttons that copy code. Without script there are none, and the code can be marked by hand.
async function copy(button) {
  const code = document.getElementById(button.dataset.copy);
  const told = button.nextElementSibling;
  try {
    await navigator.clipboard.writeText(code.textContent);
    told.textContent = button.dataset.copied;
  } catch { // no clipboard: over plain HTTP, or not allowed
    getSelection().selectAllChildren(code);
    told.textContent = button.dataset.selected;
  }
}

for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", () => copy(button));
}
