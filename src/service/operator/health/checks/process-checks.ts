import { X509Certificate } from "node:crypto";
import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { createSecureContext } from "node:tls";
import type { Config } from "../../../config/config.ts";
import { DAY_MS } from "../../../platform/lifecycle/clock.ts";
import type { Finding, HealthCheck } from "./health-check.ts";

/** Returns the checks of the process's data folder, port and certificate. */
export function processChecks(config: Config): HealthCheck[] {
  return [
    {
      name: "data directory",
      advice: "make DATA_DIR a folder that the service's user may write to",
      look: async () => lookAtFolder(config.dataDirectory),
    },
    {
      name: "port",
      advice: "set HOST to an address of this machine, and PORT to a port that its user may listen on",
      look: () => lookAtPort(config),
    },
    {
      name: "certificate",
      advice:
        "store the certificate chain and its key in PEM form at the paths in TLS_CERT_FILE and TLS_KEY_FILE",
      look: async () => lookAtCertificate(config.tls),
    },
  ];
}

const HEALTH_TIMEOUT_MS = 3_000;
/** Certificates are usually renewed a month before they expire, so by this time the renewal has failed. */
const CERTIFICATE_WARN_DAYS = 14;

function lookAtFolder(dataDirectory: string): Finding {
  const folder = path.resolve(dataDirectory);
  let nearest = folder;
  while (!existsSync(nearest)) nearest = path.dirname(nearest);
  if (!statSync(nearest).isDirectory()) throw new Error(`${nearest} is not a folder`);
  accessSync(nearest, constants.W_OK | constants.X_OK);
  return { status: "ok", found: nearest === folder ? folder : `${folder}, created at the first start` };
}

async function lookAtPort({ host, port, tls }: Config): Promise<Finding> {
  if (port === 0) return { status: "ok", found: "any free port" };
  const place = `${host}:${port}`;
  const code = await listenOnce(host, port);
  if (code === undefined) return { status: "ok", found: `${place} is free` };
  if (code !== "EADDRINUSE") throw new Error(`cannot listen on ${place}: ${code}`);
  if (tls === undefined && (await isService(host, port)))
    return { status: "info", found: `the service runs at ${place}` };
  return {
    status: "warn",
    found: `${place} is taken`,
    advice: "if another program uses it, stop that program or set PORT",
  };
}

function listenOnce(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve("code" in error ? String(error.code) : error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

async function isService(host: string, port: number): Promise<boolean> {
  const name = host === "0.0.0.0" || host === "::" ? "localhost" : host.includes(":") ? `[${host}]` : host;
  try {
    const reply = await fetch(`http://${name}:${port}/v1/health`, {
      signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS),
    });
    return typeof ((await reply.json()) as { uptimeSeconds?: unknown }).uptimeSeconds === "number";
  } catch {
    return false;
  }
}

function lookAtCertificate(tls: Config["tls"]): Finding {
  if (tls === undefined) return { status: "info", found: "none; a proxy must terminate TLS" };
  const cert = readFileSync(tls.certificateFile);
  const key = readFileSync(tls.keyFile);
  // Throws if the certificate and the key do not match.
  createSecureContext({ cert, key });
  const { validTo } = new X509Certificate(cert);
  const days = Math.floor((Date.parse(validTo) - Date.now()) / DAY_MS);
  const found = `valid until ${new Date(validTo).toISOString()}`;
  const advice = "renew the certificate, then restart the service, which reads it at start";
  if (days < 0) return { status: "fail", found, advice };
  return days < CERTIFICATE_WARN_DAYS ? { status: "warn", found, advice } : { status: "ok", found };
}
