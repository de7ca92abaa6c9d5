"""What every test may rely on, however the tests were started."""

from __future__ import annotations

import signal

# A shell starts what runs in the background with Ctrl-C ignored, and so would those tests that press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
