import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.elasticsearch.common.logging.LogConfigurator;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.env.Environment;
import org.elasticsearch.node.Node;
import org.elasticsearch.plugins.PluginsLoader;

/**
 * Boots one Elasticsearch node from its library jars (8.19 and 9.0 share this API) and closes it cleanly on SIGTERM or
 * when the parent process goes away, which it notices as the end of its standard input.
 *
 * <p>The first argument is the folder with the modules; every other one is an Elasticsearch setting written as name=value,
 * and path.home must be among them.
 */
public final class Launcher {
  private static final int EXIT_START_FAILED = 70;
  private static final long CLOSE_TIMEOUT_SECONDS = 15;

  /** Put as lists of one: a plain string would be split at a comma in the path. */
  private static final Set<String> LIST_SETTINGS = Set.of("path.data", "path.repo");

  private Launcher() {}

  public static void main(String[] args) {
    Settings.Builder builder = Settings.builder();
    Path modules = Path.of(args[0]);
    for (String arg : Arrays.asList(args).subList(1, args.length)) {
      int equals = arg.indexOf('=');
      if (equals < 1) {
        throw new IllegalArgumentException("expected name=value, got " + arg);
      }
      String name = arg.substring(0, equals);
      String value = arg.substring(equals + 1);
      if (LIST_SETTINGS.contains(name)) {
        builder.putList(name, value);
      } else {
        builder.put(name, value);
      }
    }
    Settings settings = builder.build();
    watchParent();
    try {
      start(settings, modules);
    } catch (Throwable t) {
      // Printed whole: the supervising process reads the cause from the log's tail.
      t.printStackTrace();
      System.err.flush();
      Runtime.getRuntime().halt(EXIT_START_FAILED);
    }
  }

  private static void start(Settings settings, Path modules) throws Exception {
    Path home = Path.of(settings.get("path.home"));
    Environment env = new Environment(settings, home.resolve("config"));
    LogConfigurator.registerErrorListener();
    LogConfigurator.configureWithoutConfig(settings);
    Node node =
        new Node(
            env,
            PluginsLoader.createPluginsLoader(
                PluginsLoader.loadModulesBundles(modules), Set.of(), Map.of(), false));
    Runtime.getRuntime().addShutdownHook(new Thread(() -> close(node), "close-node"));
    node.start();
    // Every thread of a node is a daemon: without this the JVM would leave as soon as main returns.
    new CountDownLatch(1).await();
  }

  private static void close(Node node) {
    try {
      node.prepareForClose();
      node.close();
      node.awaitClose(CLOSE_TIMEOUT_SECONDS, TimeUnit.SECONDS);
    } catch (IOException e) {
      e.printStackTrace();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The parent holds the other end of stdin open and never writes: end of file means that it is gone. */
  private static void watchParent() {
    Thread watcher =
        new Thread(
            () -> {
              try {
                while (System.in.read() >= 0) {
                  // Nothing is ever sent; whatever arrives is ignored.
                }
              } catch (IOException e) {
                // A broken pipe is the same news as its end.
              }
              System.exit(0);
            },
            "watch-parent");
    watcher.setDaemon(true);
    watcher.start();
  }
}
