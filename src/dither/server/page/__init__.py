"""The page: what people see in a browser, over the same gateway. It works without script; scripts make it quicker."""
