import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import org.apache.activemq.artemis.api.core.Message;
import org.apache.activemq.artemis.api.core.QueueConfiguration;
import org.apache.activemq.artemis.api.core.RoutingType;
import org.apache.activemq.artemis.api.core.SimpleString;
import org.apache.activemq.artemis.api.core.client.ActiveMQClient;
import org.apache.activemq.artemis.api.core.client.ClientConsumer;
import org.apache.activemq.artemis.api.core.client.ClientMessage;
import org.apache.activemq.artemis.api.core.client.ClientRequestor;
import org.apache.activemq.artemis.api.core.client.ClientSession;
import org.apache.activemq.artemis.api.core.client.ClientSessionFactory;
import org.apache.activemq.artemis.api.core.client.ServerLocator;
import org.apache.activemq.artemis.api.core.management.ManagementHelper;

/**
 * Clients of any server. One command a line: `send PORT NUMBER`, `numbers PORT`, `node PORT`; one answer a line, `ok`
 * and what was asked for, or `failed` and why.
 */
class Clients {
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
        String server = "tcp://127.0.0.1:" + words[1];
        try (ServerLocator locator = ActiveMQClient.createServerLocator(server).setCallTimeout(3000)
                     .setBlockOnDurableSend(true).setReconnectAttempts(0).setInitialConnectAttempts(1);
             ClientSessionFactory factory = locator.createSessionFactory();
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

    static String sent(ClientSession session, String number) throws Exception {
        if (!session.queueQuery(SimpleString.of(QUEUE)).isExists()) {
            session.createQueue(QueueConfiguration.of(QUEUE).setRoutingType(RoutingType.ANYCAST).setDurable(true));
        }
        ClientMessage message = session.createMessage(true);
        message.putStringProperty(NUMBER, number);
        message.putStringProperty(Message.HDR_DUPLICATE_DETECTION_ID, SimpleString.of("message-" + number));
        session.createProducer(QUEUE).send(message);
        return number;
    }

    static String numbers(ClientSession session) throws Exception {
        if (!session.queueQuery(SimpleString.of(QUEUE)).isExists()) {
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
        ManagementHelper.putAttribute(question, "broker", "NodeID");
        ClientMessage answer = new ClientRequestor(session, "activemq.management").request(question, 3000);
        return String.valueOf(ManagementHelper.getResult(answer));
    }
}
