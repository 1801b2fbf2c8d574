"""The gateway for programs that speak the Model Context Protocol (install `dither[server]`)."""
