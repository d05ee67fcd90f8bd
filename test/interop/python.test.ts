/** gRPC's C core through Python. Clients in most other languages use this implementation. */
import path from "node:path";
import { describe, expect, inject, it } from "vitest";
import { programMissing } from "../support/environment.ts";
import { runProgram } from "./run-program.ts";
import { startTestServer } from "./test-server.ts";

const CASES = [
  "empty_unary",
  "large_unary",
  "client_compressed_unary",
  "server_streaming",
  "client_streaming",
  "ping_pong",
  "empty_stream",
  "custom_metadata",
  "status_code_and_message",
  "special_status_message",
  "error_details",
  "unimplemented_method",
  "unimplemented_service",
  "oversize_request",
  "cancel_after_begin",
  "cancel_after_first_response",
  "timeout_on_sleeping_server",
  "deadline_is_shortened",
  "health",
  "reflection",
];

const python = await pythonWithGrpc();

describe.skipIf(python === undefined)("gRPC's C core", async () => {
  const results = python === undefined ? {} : await runCases(python);

  it("has only the cases that are listed here", () => {
    expect(Object.keys(results)).toEqual(CASES);
  });

  it.each(CASES)("passes the case %s", (name) => {
    expect(results[name]).toBeNull();
  });
});

/** Runs all cases in one process, because Python takes longer to start than to run any of them. */
async function runCases(program: string): Promise<Record<string, string | null>> {
  const server = await startTestServer();
  try {
    const client = path.join(import.meta.dirname, "python-client.py");
    const { code, out, err } = await runProgram(program, [client, server.address, inject("protoImage")]);
    if (code !== 0) throw new Error(`the client ended with ${code}: ${err}`);
    return JSON.parse(out.toString()) as Record<string, string | null>;
  } finally {
    await server.close();
  }
}

/** A Python with grpc: the distribution's, which packages it, or the first one on the path. */
async function pythonWithGrpc(): Promise<string | undefined> {
  for (const program of ["/usr/bin/python3", "python3"]) {
    const found = await runProgram(program, ["-c", "import grpc, google.protobuf"]).catch(() => undefined);
    if (found?.code === 0) return program;
  }
  programMissing("Python with grpc (Debian: python3-grpcio)", "clients of gRPC's C core");
  return undefined;
}
