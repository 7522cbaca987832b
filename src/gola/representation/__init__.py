"""How functions known at points become few numbers, and back."""
