// A question under way: its state and whole seconds, until it ends; then the page of its answer. Without it the page looks
// again by itself.

const place = document.querySelector("[data-question]");
const state = document.getElementById("waiting-state");
const source = new EventSource(`/v1/queries/${encodeURIComponent(place.dataset.question)}/events`);

function end() {
  source.close();
  state.textContent = place.dataset.finished;
  location.reload();
}

source.addEventListener("queued", () => (state.textContent = place.dataset.queued));
source.addEventListener("running", (event) => {
  state.textContent = place.dataset.running.replace("{seconds}", JSON.parse(event.data).seconds);
});
source.addEventListener("done", end);
source.addEventListener("failed", end);
source.addEventListener("error", () => {
  if (source.readyState === EventSource.CLOSED) state.textContent = place.dataset.lost; // it is tried again where it only broke off
});
