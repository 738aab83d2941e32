# hindsight-es with both local embedding models inside, for an Elasticsearch of your own (see docker-compose.yml).
#   docker build -t hindsight-es .
#   docker run --env-file .env -p 127.0.0.1:8420:8420 hindsight-es
#   docker run -i --rm -e HINDSIGHT_URL -e HINDSIGHT_TOKEN hindsight-es mcp      MCP on stdin and stdout, for a service that runs elsewhere
FROM node:22-bookworm-slim AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends openjdk-17-jre-headless maven \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY src src
RUN npm run build
# Maven brings the models; the image needs neither it nor Java afterwards
RUN node src/bootstrap/models.mjs /opt/hindsight-es
# the libraries of other systems weigh 220 MB
RUN npm prune --omit=dev \
 && rm -rf node_modules/onnxruntime-node/bin/napi-v*/darwin node_modules/onnxruntime-node/bin/napi-v*/win32

FROM node:22-bookworm-slim
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8420 \
    DATA_DIR=/var/lib/hindsight-es \
    HINDSIGHT_CACHE_DIR=/opt/hindsight-es
WORKDIR /app
# owned by root: the service can read its program and models, not change them
COPY --from=build /opt/hindsight-es /opt/hindsight-es
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
COPY mappings mappings
COPY policies policies
# the only place it writes to: the root file system may be read-only
RUN install -d -o node -g node -m 0700 /var/lib/hindsight-es
VOLUME /var/lib/hindsight-es
USER node
EXPOSE 8420
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=6 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Node handles SIGTERM itself and starts no process that it does not wait for; arguments of `docker run` take the place of CMD
ENTRYPOINT ["node", "/app/dist/main.js"]
CMD ["serve"]
