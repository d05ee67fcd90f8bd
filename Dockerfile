# The image of the service. docs/operations/deploy.md says how to build and run it, and what is in it.
# The base images are arguments, so that the image also builds without a registry: deploy/image/make-bases.sh makes both
# from Debian's packages. For a reproducible build, name them by digest.
# BUILD_BASE has Node, npm and a shell. BASE needs only glibc and libstdc++: it gets its Node from BUILD_BASE.
ARG BUILD_BASE=docker.io/library/node:22.21.1-bookworm-slim
ARG BASE=gcr.io/distroless/cc-debian12:nonroot

FROM ${BUILD_BASE} AS locked
# The path of a mounted file, for a network whose own authority signs the certificates of its registry.
ARG NODE_EXTRA_CA_CERTS=""
ENV NODE_EXTRA_CA_CERTS=${NODE_EXTRA_CA_CERTS}
WORKDIR /app
COPY package.json package-lock.json .npmrc ./

FROM locked AS production
# Without --omit=optional, npm keeps Prisma's command line and more, which doubles the size.
RUN --mount=type=cache,target=/npm-cache \
  npm ci --cache /npm-cache --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

FROM locked AS build
RUN --mount=type=cache,target=/npm-cache npm ci --cache /npm-cache --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY tools tools
COPY prisma prisma
COPY gen gen
COPY move/treasury/compiled.json move/treasury/compiled.json
COPY docs/runbook.md docs/runbook.md
COPY src src
COPY --from=production /app/node_modules/.package-lock.json installed.json
ARG SOURCE_COMMIT
RUN SOURCE_COMMIT="${SOURCE_COMMIT}" node --import tsx tools/build.ts \
  && find dist -type f -name '*.d.ts' -delete \
  && node --import tsx tools/sbom.ts installed.json > sbom.cdx.json \
  && mkdir -p /empty \
  && cp "$(command -v node)" /usr/local/bin/node-of-image

FROM ${BASE}
ARG SOURCE_COMMIT
LABEL org.opencontainers.image.title="threshold-signing-service" \
  org.opencontainers.image.description="A hosted backend for MPC signing keys: Ika dWallets on Sui" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.revision="${SOURCE_COMMIT}"
COPY --from=build /usr/local/bin/node-of-image /usr/local/bin/node
WORKDIR /app
COPY --from=production /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/sbom.cdx.json sbom.cdx.json
COPY package.json LICENSE deploy/image/health.mjs ./
# The only folder that the service writes to.
COPY --from=build --chown=65532:65532 /empty /data
ENV NODE_ENV=production \
  PATH=/usr/local/bin:/usr/bin:/bin \
  HOST=0.0.0.0 \
  PORT=3000 \
  METRICS_PORT=9464 \
  DATA_DIR=/data
VOLUME ["/data"]
EXPOSE 3000 9464
USER 65532:65532
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 CMD ["/usr/local/bin/node", "/app/health.mjs"]
# The service is process 1 and gets SIGTERM itself. It starts threads and no processes, so there is nothing to reap.
ENTRYPOINT ["/usr/local/bin/node", "/app/dist/src/cli/main.js"]
CMD ["serve"]
