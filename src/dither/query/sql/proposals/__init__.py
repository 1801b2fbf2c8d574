"""What refusals propose: texts that are answered in place of what was refused, and the whole question with them."""
