package hindsight;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.elasticsearch.TransportVersion;
import org.elasticsearch.common.bytes.BytesArray;
import org.elasticsearch.common.io.stream.NamedWriteableRegistry;
import org.elasticsearch.common.network.NetworkService;
import org.elasticsearch.common.settings.ClusterSettings;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.transport.BoundTransportAddress;
import org.elasticsearch.common.transport.TransportAddress;
import org.elasticsearch.common.util.BigArrays;
import org.elasticsearch.common.util.PageCacheRecycler;
import org.elasticsearch.common.util.concurrent.ThreadContext;
import org.elasticsearch.http.HttpPreRequest;
import org.elasticsearch.http.HttpRouteStats;
import org.elasticsearch.http.HttpServerTransport;
import org.elasticsearch.indices.breaker.CircuitBreakerService;
import org.elasticsearch.rest.RestChannel;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.telemetry.tracing.Tracer;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.Transport;
import org.elasticsearch.transport.netty4.Netty4Plugin;
import org.elasticsearch.transport.netty4.Netty4Transport;
import org.elasticsearch.transport.netty4.SharedGroupFactory;
import org.elasticsearch.xcontent.NamedXContentRegistry;

/**
 * Keeps other users of the machine, and pages in a browser that reach loopback by DNS rebinding, out of the managed node,
 * whose core has no security of its own: no HTTP request reaches a handler without the service's credential (HTTP Basic,
 * RFC 7617), and there is no transport port at all, because a single node talks to no other.
 *
 * <p>It takes the place of the plugin it extends, under the same names. Without a credential file HTTP stays open.
 */
public final class LoopbackGuard extends Netty4Plugin {
  /** File with the credential, "user:password", readable by the owner alone. */
  private static final Setting<String> CREDENTIAL_FILE =
      Setting.simpleString("hindsight.credential_file", Setting.Property.NodeScope, Setting.Property.Filtered);

  private static final int MIN_CREDENTIAL_BYTES = 32;

  @Override
  public List<Setting<?>> getSettings() {
    List<Setting<?>> all = new ArrayList<>(super.getSettings());
    all.add(CREDENTIAL_FILE);
    return all;
  }

  @Override
  public Map<String, Supplier<HttpServerTransport>> getHttpTransports(
      Settings settings,
      ThreadPool threadPool,
      BigArrays bigArrays,
      PageCacheRecycler recycler,
      CircuitBreakerService breakers,
      NamedXContentRegistry xContent,
      NetworkService network,
      HttpServerTransport.Dispatcher dispatcher,
      BiConsumer<HttpPreRequest, ThreadContext> perRequestContext,
      ClusterSettings clusterSettings,
      Tracer tracer) {
    return super.getHttpTransports(
        settings,
        threadPool,
        bigArrays,
        recycler,
        breakers,
        xContent,
        network,
        CREDENTIAL_FILE.exists(settings) ? new GuardedDispatcher(dispatcher, expectedHeader(settings)) : dispatcher,
        perRequestContext,
        clusterSettings,
        tracer);
  }

  @Override
  public Map<String, Supplier<Transport>> getTransports(
      Settings settings,
      ThreadPool threadPool,
      PageCacheRecycler recycler,
      CircuitBreakerService breakers,
      NamedWriteableRegistry writeables,
      NetworkService network) {
    return Map.of(
        NETTY_TRANSPORT_NAME,
        () -> new UnboundTransport(settings, threadPool, network, recycler, writeables, breakers));
  }

  private static byte[] expectedHeader(Settings settings) {
    try {
      byte[] credential = Files.readString(Path.of(CREDENTIAL_FILE.get(settings))).strip().getBytes(StandardCharsets.UTF_8);
      if (credential.length < MIN_CREDENTIAL_BYTES) {
        throw new IllegalStateException("the credential is too short");
      }
      return ("Basic " + Base64.getEncoder().encodeToString(credential)).getBytes(StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Hands on what carries the credential and answers everything else, also what could not be parsed, with 401. */
  private static final class GuardedDispatcher implements HttpServerTransport.Dispatcher {
    private final HttpServerTransport.Dispatcher inner;
    private final byte[] expected;

    GuardedDispatcher(HttpServerTransport.Dispatcher inner, byte[] expected) {
      this.inner = inner;
      this.expected = expected;
    }

    @Override
    public void dispatchRequest(RestRequest request, RestChannel channel, ThreadContext context) {
      if (allows(request)) {
        inner.dispatchRequest(request, channel, context);
      } else {
        refuse(channel);
      }
    }

    @Override
    public void dispatchBadRequest(RestChannel channel, ThreadContext context, Throwable cause) {
      if (allows(channel.request())) {
        inner.dispatchBadRequest(channel, context, cause);
      } else {
        refuse(channel);
      }
    }

    @Override
    public Map<String, HttpRouteStats> getStats() {
      return inner.getStats();
    }

    /** In time that does not depend on how much of a guess is right. */
    private boolean allows(RestRequest request) {
      String given = request.header("Authorization");
      return given != null && MessageDigest.isEqual(expected, given.getBytes(StandardCharsets.UTF_8));
    }

    private static void refuse(RestChannel channel) {
      RestResponse answer =
          new RestResponse(
              RestStatus.UNAUTHORIZED,
              "application/json",
              new BytesArray("{\"error\":{\"type\":\"security_exception\",\"reason\":\"credential missing or wrong\"},\"status\":401}"));
      answer.addHeader("WWW-Authenticate", "Basic realm=\"hindsight-es\"");
      channel.sendResponse(answer);
    }
  }

  /** A transport that listens nowhere; the address stands only in the node's description of itself. */
  private static final class UnboundTransport extends Netty4Transport {
    private final BoundTransportAddress nowhere;

    UnboundTransport(
        Settings settings,
        ThreadPool threadPool,
        NetworkService network,
        PageCacheRecycler recycler,
        NamedWriteableRegistry writeables,
        CircuitBreakerService breakers) {
      super(
          settings,
          TransportVersion.current(),
          threadPool,
          network,
          recycler,
          writeables,
          breakers,
          new SharedGroupFactory(settings));
      TransportAddress address = new TransportAddress(InetAddress.getLoopbackAddress(), 1);
      nowhere = new BoundTransportAddress(new TransportAddress[] {address}, address);
    }

    @Override
    protected void bindServer(ProfileSettings profile) {
      // On purpose: nothing may connect.
    }

    @Override
    public BoundTransportAddress boundAddress() {
      return nowhere;
    }
  }
}
