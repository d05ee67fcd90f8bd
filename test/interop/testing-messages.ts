/** TypeScript types and descriptors of `testing.proto`, from which no code is generated. */
import { readFileSync } from "node:fs";
import { createFileRegistry, type DescMessage, type DescService, fromBinary } from "@bufbuild/protobuf";
import { type Any, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { type CallOptions, createClient, type Transport } from "@connectrpc/connect";
import { inject } from "vitest";

export interface Payload {
  readonly body: Uint8Array;
}

export interface EchoStatus {
  readonly code: number;
  readonly message: string;
  readonly withDetails?: boolean;
}

interface Behaviour {
  readonly payload?: Payload;
  readonly responseStatus?: EchoStatus;
  readonly expectCompressed?: boolean;
  readonly hang?: boolean;
}

export interface SimpleRequest extends Behaviour {
  readonly echo?: Any;
  readonly responseSize?: number;
}

export interface SimpleResponse {
  readonly echo?: Any;
  readonly payload?: Payload;
  readonly deadlineMs?: number;
}

export interface StreamRequest extends Behaviour {
  readonly responseParameters?: readonly { readonly size: number }[];
}

export interface StreamResponse {
  readonly payload?: Payload;
}

/** A Connect client of `TestService`. */
export interface TestClient {
  emptyCall(request: object, options?: CallOptions): Promise<object>;
  unaryCall(request: SimpleRequest, options?: CallOptions): Promise<SimpleResponse>;
  streamingOutputCall(request: StreamRequest, options?: CallOptions): AsyncIterable<StreamResponse>;
  streamingInputCall(
    requests: AsyncIterable<{ payload?: Payload }>,
    options?: CallOptions,
  ): Promise<{ aggregatedPayloadSize: number }>;
  fullDuplexCall(
    requests: AsyncIterable<StreamRequest>,
    options?: CallOptions,
  ): AsyncIterable<StreamResponse>;
  unimplementedCall(request: object, options?: CallOptions): Promise<object>;
}

const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(inject("protoImage"))));

export const TestService: DescService = registry.getService("tss.testing.v1.TestService")!;
export const UnimplementedService: DescService = registry.getService("tss.testing.v1.UnimplementedService")!;

/** The descriptor of a message of `testing.proto`, by its unqualified name. */
export function messageNamed(name: string): DescMessage {
  const found = registry.getMessage(`tss.testing.v1.${name}`);
  if (found === undefined) throw new Error(`there is no message ${name}`);
  return found;
}

export function createTestClient(transport: Transport, service = TestService): TestClient {
  return createClient(service, transport) as unknown as TestClient;
}
