"""The test command of cosmic-ray: asks the server about the mutant that is in the files now. It imports nothing."""

import socket
import sys

with socket.socket(socket.AF_UNIX) as asking:
    asking.settimeout(400)
    asking.connect(".mutation.socket")
    said = b"".join(iter(lambda: asking.recv(4096), b"")).decode()
print(said)
sys.exit(said.startswith("killed"))
