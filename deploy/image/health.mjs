/** The image's health check: exits with 0 if the service in this container answers `GET /v1/health` with 200. */
import http from "node:http";
import https from "node:https";

const TIMEOUT_MS = 4_000;
const LOOPBACK = { "0.0.0.0": "127.0.0.1", "::": "::1" };

const { HOST = "127.0.0.1", PORT = "3000", TLS_CERT_FILE } = process.env;
const fail = () => process.exit(1);

// The certificate names the host that callers use. This connection never leaves the container.
const options = {
  host: LOOPBACK[HOST] ?? HOST,
  port: PORT,
  path: "/v1/health",
  timeout: TIMEOUT_MS,
  rejectUnauthorized: false,
};
(TLS_CERT_FILE ? https : http)
  .get(options, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1))
  .on("error", fail)
  .on("timeout", fail);
