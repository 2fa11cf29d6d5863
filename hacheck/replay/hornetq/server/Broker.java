import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import org.hornetq.core.config.impl.FileConfiguration;
import org.hornetq.core.server.impl.HornetQServerImpl;

/** One HornetQ server, configured by the file that is named, until its process is asked to end. */
class Broker {
    public static void main(String[] arguments) throws Exception {
        FileConfiguration configuration = new FileConfiguration(Path.of(arguments[0]).toUri().toString());
        configuration.start();
        HornetQServerImpl server = new HornetQServerImpl(configuration, ManagementFactory.getPlatformMBeanServer());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                server.stop();
            } catch (Exception error) {
                error.printStackTrace();
            }
        }));
        server.start();
        Thread.currentThread().join();
    }
}
