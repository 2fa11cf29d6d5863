"""What differs between brokers of one family as processes: their programs, the words of their configuration, their log.

Artemis grew out of HornetQ. Packets, the numbers of log lines and the ways to fail over are nearly the same, so one
driver starts both, and reads both.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

_QUICK = ("-XX:TieredStopAtLevel=1",)


class BrokerKind(Struct, frozen=True):
    """`artifact`: its jar, by the name that Maven has for it; `adapter`: what reads its log. `server`: the folder with
    `Broker.java`, `Clients.java`, `pom.xml` and `logging`, which says that a server writes the file `log` below its own
    folder. `options`, `client_options`: of the JVMs. `configuration`, `cluster`, `connector`: texts with places in
    braces."""

    product: str
    artifact: str
    adapter: str
    server: Path
    logging: str
    log: str
    options: tuple[str, ...]
    client_options: tuple[str, ...]
    configuration: str
    cluster: str
    connector: str

    @property
    def sources(self) -> list[str]:
        """The programs that start a server, and speak for its clients."""
        return [str(self.server / name) for name in ("Broker.java", "Clients.java")]

    def java(self, classes: str, *program: str, memory: str = "192m") -> list[str]:
        """The command that runs a server."""
        return ["java", *_QUICK, *self.options, f"-Xmx{memory}", "-cp", classes, *program]

    def client_java(self, classes: str, program: str) -> list[str]:
        """The command that speaks for clients."""
        return ["java", *_QUICK, *self.client_options, "-Xmx96m", "-cp", classes, program]

    def connectors(self, ports: dict[str, int]) -> str:
        """The part of a configuration that says where servers are found; `ports`: by the name of the connector."""
        return "".join(self.connector.format(name=name, port=port) for name, port in ports.items())


ARTEMIS = BrokerKind(
    product="Artemis",
    artifact="artemis-server",
    adapter="artemis",
    server=Path(__file__).parent / "server",
    logging="log4j2.properties",
    log="log/artemis.log",
    options=("-Dlog4j2.configurationFile=log4j2.properties",),
    client_options=("-Dlog4j2.configurationFile=log4j2.properties",),
    configuration="""<?xml version="1.0" encoding="UTF-8"?>
<configuration xmlns="urn:activemq">
  <core xmlns="urn:activemq:core">
    <name>{name}</name>
    <persistence-enabled>true</persistence-enabled>
    <security-enabled>false</security-enabled>
    <journal-type>NIO</journal-type>
    <journal-min-files>2</journal-min-files>
    <journal-file-size>1M</journal-file-size>
    <paging-directory>{data}/paging</paging-directory>
    <bindings-directory>{data}/bindings</bindings-directory>
    <journal-directory>{data}/journal</journal-directory>
    <large-messages-directory>{data}/large</large-messages-directory>
    <cluster-user>cluster</cluster-user>
    <cluster-password>cluster</cluster-password>
    <connectors>{connectors}</connectors>
    <acceptors><acceptor name="own">tcp://127.0.0.1:{own}</acceptor></acceptors>
    <cluster-connections>{cluster}</cluster-connections>
    <ha-policy>{policy}</ha-policy>
  </core>
</configuration>
""",
    cluster="""
      <cluster-connection name="servers">
        <connector-ref>{own}</connector-ref>
        {timing}
        <retry-interval>500</retry-interval>
        <message-load-balancing>OFF</message-load-balancing>
        <static-connectors>{others}</static-connectors>
      </cluster-connection>
""",
    connector='<connector name="{name}">tcp://127.0.0.1:{port}</connector>',
)
"""Of a server that keeps all that it has below `data`, listens at `own`, and asks nobody who he is."""
