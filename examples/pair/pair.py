"""Two servers share an address, and a witness has one vote."""

HEARTBEAT_SECONDS = 1.0
SILENCE_SECONDS = 3.0
VOTE_SECONDS = 10.0
GIVE_UP_SECONDS = 8.0


class Witness:
    """Gives its vote to one server at a time, until ten seconds after that server last asked."""

    def __init__(self):
        self.vote, self.until = None, 0.0

    def ask(self, server, now):
        if self.vote not in (None, server) and now < self.until:
            return False
        self.vote, self.until = server, now + VOTE_SECONDS
        return True


class Server:
    """Has the address while it is active."""

    def __init__(self, name, now, send, ask):
        self.name, self.send, self.ask = name, send, ask
        self.active, self.heard, self.renewed = False, now, now

    def heartbeat(self, now):
        self.heard = now

    def tick(self, now):
        """What is to be done once a second. Returns the line for the log, if any."""
        if self.active:
            self.send(self.name)
            if self.ask(self.name):
                self.renewed = now
            elif now - self.renewed >= GIVE_UP_SECONDS:
                self.active = False
                return "standby"
        elif now - self.heard >= SILENCE_SECONDS and self.ask(self.name):
            self.active, self.renewed = True, now
            return "active"
        return None
