import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.hornetq.api.core.Message;
import org.hornetq.api.core.SimpleString;
import org.hornetq.api.core.TransportConfiguration;
import org.hornetq.api.core.client.ClientConsumer;
import org.hornetq.api.core.client.ClientMessage;
import org.hornetq.api.core.client.ClientRequestor;
import org.hornetq.api.core.client.ClientSession;
import org.hornetq.api.core.client.ClientSessionFactory;
import org.hornetq.api.core.client.HornetQClient;
import org.hornetq.api.core.client.ServerLocator;
import org.hornetq.api.core.management.ManagementHelper;

/**
 * Clients of any server. One command a line: `send PORT NUMBER`, `numbers PORT`, `node PORT`; one answer a line, `ok`
 * and what was asked for, or `failed` and why.
 */
class Clients {
    static final String CONNECTORS = "org.hornetq.core.remoting.impl.netty.NettyConnectorFactory";
    static final String QUEUE = "replayed";
    static final String NUMBER = "number";

    public static void main(String[] arguments) throws Exception {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String answer;
            try {
                answer = "ok " + answered(line.trim().split(" "));
            } catch (Exception error) {
                answer = "failed " + error.getClass().getSimpleName() + ": " + error.getMessage();
            }
            System.out.println(answer.replace('\n', ' '));
            System.out.flush();
        }
        System.exit(0);
    }

    static String answered(String[] words) throws Exception {
        Map<String, Object> address = Map.of("host", "127.0.0.1", "port", Integer.valueOf(words[1]));
        TransportConfiguration server = new TransportConfiguration(CONNECTORS, address);
        try (ServerLocator locator = HornetQClient.createServerLocatorWithoutHA(server)) {
            locator.setCallTimeout(3000);
            locator.setBlockOnDurableSend(true);
            locator.setReconnectAttempts(0);
            locator.setInitialConnectAttempts(1);
            try (ClientSessionFactory factory = locator.createSessionFactory();
                 ClientSession session = factory.createSession(true, true, 0)) {
                session.start();
                switch (words[0]) {
                    case "send":
                        return sent(session, words[2]);
                    case "numbers":
                        return numbers(session);
                    default:
                        return node(session);
                }
            }
        }
    }

    static String sent(ClientSession session, String number) throws Exception {
        if (!session.queueQuery(new SimpleString(QUEUE)).isExists()) {
            session.createQueue(QUEUE, QUEUE, true);
        }
        ClientMessage message = session.createMessage(true);
        message.putStringProperty(NUMBER, number);
        message.putStringProperty(Message.HDR_DUPLICATE_DETECTION_ID, new SimpleString("message-" + number));
        session.createProducer(QUEUE).send(message);
        return number;
    }

    static String numbers(ClientSession session) throws Exception {
        if (!session.queueQuery(new SimpleString(QUEUE)).isExists()) {
            return "";
        }
        List<String> found = new ArrayList<>();
        ClientConsumer browser = session.createConsumer(QUEUE, true);
        for (ClientMessage message = browser.receiveImmediate(); message != null; message = browser.receiveImmediate()) {
            found.add(message.getStringProperty(NUMBER));
        }
        return String.join(" ", found);
    }

    static String node(ClientSession session) throws Exception {
        ClientMessage question = session.createMessage(false);
        ManagementHelper.putAttribute(question, "core.clusterconnection.servers", "NodeID");
        ClientMessage answer = new ClientRequestor(session, "jms.queue.hornetq.management").request(question, 3000);
        return String.valueOf(ManagementHelper.getResult(answer));
    }
}
