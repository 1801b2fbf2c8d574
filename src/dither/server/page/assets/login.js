// A link with a token behind # fills the field in. What stands behind # is not sent to any server, and leaves the address.
const found = new URLSearchParams(location.hash.slice(1)).get("token");
if (found) {
  history.replaceState(null, "", location.pathname + location.search);
  document.getElementById("token").value = found;
  document.querySelector("form[action='/login'] button").focus();
}
