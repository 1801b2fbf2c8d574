"""The gateway over HTTP, with FastAPI (install `dither[server]`)."""
