// Buttons that copy a secret or a link. Where the browser does not let a page copy, the text is selected instead.
const copied = document.getElementById("copied");
for (const button of document.querySelectorAll("button[data-copy]")) {
  const from = document.getElementById(button.dataset.copy);
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(from.href ?? from.value);
      copied.textContent = button.dataset.copied;
    } catch {
      if (from.select) from.select();
      else from.focus();
    }
  });
}
