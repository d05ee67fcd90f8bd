import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  type DescMethodUnary,
  fromBinary,
  fromJson,
  type JsonValue,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import * as grpc from "@grpc/grpc-js";
import { Onboarding } from "../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Signing } from "../../../gen/proto/tss/v1/signing_pb.ts";

/** The unary calls of an onboarding and a signature. */
export type MethodName =
  | "GetNetwork"
  | "RegisterEncryptionKey"
  | "CreateDWallet"
  | "AcceptDWallet"
  | "GetDWallet"
  | "ReserveSign"
  | "SubmitSign"
  | "GetSign";

/** A client of the service over one protocol, with protobuf JSON as input and output. */
export interface ProtocolClient {
  readonly name: string;
  call(method: MethodName, request: Record<string, JsonValue>): Promise<Record<string, JsonValue>>;
  close(): void;
}

/** `@grpc/grpc-js` with protobuf-es as its codec: gRPC over clear-text HTTP/2. */
export function grpcJsClient(baseUrl: string, apiKey: string, network?: string): ProtocolClient {
  const client = new grpc.Client(new URL(baseUrl).host, grpc.credentials.createInsecure());
  return {
    name: "grpc-js",
    call: (name, request) =>
      new Promise((resolve, reject) => {
        const method = findMethod(name);
        const metadata = new grpc.Metadata();
        metadata.set("authorization", `Bearer ${apiKey}`);
        if (network !== undefined) metadata.set("x-network", network);
        client.makeUnaryRequest(
          `/${method.parent.typeName}/${method.name}`,
          (message: Uint8Array) => Buffer.from(message),
          (bytes: Buffer) => fromBinary(method.output, bytes),
          toBinary(method.input, fromJson(method.input, request)),
          metadata,
          { deadline: Date.now() + 60_000 },
          (error, reply) => {
            if (error || !reply) reject(error ?? new Error("no reply"));
            else resolve(toJson(method.output, reply) as Record<string, JsonValue>);
          },
        );
      }),
    close: () => client.close(),
  };
}

/** Connect-Web: the Connect protocol or gRPC-web over `fetch`. */
export function connectWebClient(
  baseUrl: string,
  apiKey: string,
  protocol: "connect" | "grpc-web",
  network?: string,
): ProtocolClient {
  const options = { baseUrl, useBinaryFormat: protocol === "grpc-web" };
  const transport =
    protocol === "connect" ? createConnectTransport(options) : createGrpcWebTransport(options);
  const clients = { ...bind(createClient(Onboarding, transport)), ...bind(createClient(Signing, transport)) };
  return {
    name: `connect-web (${protocol})`,
    async call(name, request) {
      const method = findMethod(name);
      const reply = await clients[method.localName]!(fromJson(method.input, request), {
        headers: {
          authorization: `Bearer ${apiKey}`,
          ...(network !== undefined && { "x-network": network }),
        },
      });
      return toJson(method.output, reply as never) as Record<string, JsonValue>;
    },
    close: () => undefined,
  };
}

/** `buf curl`: connect-go with the protos of this repository. */
export function bufCurlClient(baseUrl: string, apiKey: string): ProtocolClient {
  const root = path.resolve(import.meta.dirname, "../../..");
  return {
    name: "buf curl",
    call(name, request) {
      const method = findMethod(name);
      const argv = [
        "curl",
        "--schema",
        root,
        "--protocol",
        "grpc",
        "--http2-prior-knowledge",
        "--data",
        "@-",
      ];
      argv.push("--header", `authorization: Bearer ${apiKey}`);
      argv.push(`${baseUrl}/${method.parent.typeName}/${method.name}`);
      return pipeJson(path.join(root, "node_modules/.bin/buf"), argv, JSON.stringify(request), root);
    },
    close: () => undefined,
  };
}

const ROUTES: Record<MethodName, [verb: string, path: string]> = {
  GetNetwork: ["GET", "/v1/network"],
  RegisterEncryptionKey: ["POST", "/v1/encryption-keys"],
  CreateDWallet: ["POST", "/v1/dwallets"],
  AcceptDWallet: ["POST", "/v1/dwallets/{dwalletId}/accept"],
  GetDWallet: ["GET", "/v1/dwallets/{dwalletId}"],
  ReserveSign: ["POST", "/v1/sign"],
  SubmitSign: ["POST", "/v1/sign/{signRequestId}/submit"],
  GetSign: ["GET", "/v1/sign/{signRequestId}"],
};

/** Plain `curl` over HTTP/1.1 on the REST routes, which are written out here. */
export function curlClient(baseUrl: string, apiKey: string, network?: string): ProtocolClient {
  const folder = mkdtempSync(path.join(tmpdir(), "curl-"));
  return {
    name: "curl",
    call(name, request) {
      const [verb, template] = ROUTES[name];
      const url = template.replace(/\{(\w+)\}/, (_, field: string) => String(request[field]));
      const argv = ["--silent", "--show-error", "--fail-with-body", "--request", verb];
      argv.push("--header", `authorization: Bearer ${apiKey}`);
      if (network !== undefined) argv.push("--header", `x-network: ${network}`);
      if (verb === "POST") {
        const body = path.join(folder, "body.json");
        writeFileSync(body, JSON.stringify(request));
        argv.push("--header", "content-type: application/json", "--data-binary", `@${body}`);
      }
      return pipeJson("curl", [...argv, baseUrl + url], "", folder);
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function findMethod(name: MethodName): DescMethodUnary {
  const method = [...Onboarding.methods, ...Signing.methods].find((m) => m.name === name);
  if (method?.methodKind !== "unary") throw new Error(`there is no unary method ${name}`);
  return method as DescMethodUnary;
}

type AnyClient = Record<string, (request: unknown, options: object) => Promise<unknown>>;

const bind = (client: object): AnyClient => client as AnyClient;

function pipeJson(
  program: string,
  argv: readonly string[],
  input: string,
  cwd: string,
): Promise<Record<string, JsonValue>> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, argv, { cwd, stdio: ["pipe", "pipe", "pipe"] });
    let out = "";
    let err = "";
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk;
    });
    child.stderr.on("data", (chunk: Buffer) => {
      err += chunk;
    });
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(JSON.parse(out) as Record<string, JsonValue>);
      else reject(new Error(`${program} ended with ${code}: ${err}${out}`));
    });
    child.stdin.end(input);
  });
}
