"""HornetQ 2.4 as processes: its programs, the words of its configuration, its log.

Its configuration has the words of before `ha-policy`: `backup`, `shared-store`, `check-for-live-server`,
`allow-failback`, `failover-on-shutdown`, `failback-delay`, `backup-group-name`, `max-saved-replicated-journals-size`.
**Source**: HornetQ 2.4.7, `FileConfigurationParser`; the `logging.properties` that it is distributed with.
"""

from __future__ import annotations

from pathlib import Path

from hacheck.replay.artemis.broker_kind import BrokerKind

_NETTY = "org.hornetq.core.remoting.impl.netty"
_ADDRESS = '<param key="host" value="127.0.0.1"/><param key="port" value="{port}"/>'

HORNETQ = BrokerKind(
    product="HornetQ",
    artifact="hornetq-server",
    adapter="hornetq",
    server=Path(__file__).parent / "server",
    logging="logging.properties",
    log="log/hornetq.log",
    options=(
        "-Djava.util.logging.manager=org.jboss.logmanager.LogManager",
        "-Dlogging.configuration=file:logging.properties",
    ),
    client_options=(),
    configuration="""<?xml version="1.0" encoding="UTF-8"?>
<configuration xmlns="urn:hornetq">
  <name>{name}</name>
  <persistence-enabled>true</persistence-enabled>
  <security-enabled>false</security-enabled>
  {policy}
  <journal-type>NIO</journal-type>
  <journal-min-files>2</journal-min-files>
  <journal-file-size>1048576</journal-file-size>
  <paging-directory>{data}/paging</paging-directory>
  <bindings-directory>{data}/bindings</bindings-directory>
  <journal-directory>{data}/journal</journal-directory>
  <large-messages-directory>{data}/large</large-messages-directory>
  <cluster-user>cluster</cluster-user>
  <cluster-password>cluster</cluster-password>
  <connectors>{connectors}</connectors>
  <acceptors>
    <acceptor name="own">
      <factory-class>"""
    f"{_NETTY}.NettyAcceptorFactory</factory-class>{_ADDRESS.format(port='{own}')}"
    """
    </acceptor>
  </acceptors>
  <cluster-connections>{cluster}</cluster-connections>
</configuration>
""",
    cluster="""
      <cluster-connection name="servers">
        <address>jms</address>
        <connector-ref>{own}</connector-ref>
        {timing}
        <retry-interval>500</retry-interval>
        <forward-when-no-consumers>false</forward-when-no-consumers>
        <static-connectors>{others}</static-connectors>
      </cluster-connection>
""",
    connector=f'<connector name="{{name}}"><factory-class>{_NETTY}.NettyConnectorFactory</factory-class>'
    f"{_ADDRESS}</connector>",
)
"""A server keeps all that it has below `data`, listens at `own`, and asks nobody who he is."""
