import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A span as OTLP/HTTP carries it in JSON (opentelemetry-proto, trace.proto), with its attributes as an object. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code?: number };
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
}

/** A receiver of traces in this process. */
export interface OtlpReceiver {
  /** The value for OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string;
  readonly spans: readonly ReceivedSpan[];
  /** Everything received so far, as text. */
  readonly bodies: readonly string[];
  /** The header of the last request. */
  header(name: string): string | undefined;
  /** Resolves once the spans satisfy the condition. */
  until(condition: (spans: readonly ReceivedSpan[]) => boolean): Promise<void>;
  close(): Promise<void>;
}

/** Starts a receiver on a free port. It answers requests with `statuses` in turn, and then with 200. */
export async function startOtlpReceiver(statuses: number[] = []): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  const waiting = new Set<() => void>();
  let headers: NodeJS.Dict<string | string[]> = {};
  const server = createServer((request, reply) => {
    void text(request).then((body) => answer(request, reply, body));
  });
  function answer(request: IncomingMessage, reply: ServerResponse, body: string): void {
    const status = statuses.shift() ?? 200;
    headers = request.headers;
    if (status === 200 && request.url === "/v1/traces") {
      bodies.push(body);
      spans.push(...spansIn(JSON.parse(body) as ExportRequest));
    }
    reply.writeHead(status, { "content-type": "application/json" }).end("{}");
    for (const look of [...waiting]) look();
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    header: (name) => headers[name]?.toString(),
    until: (condition) =>
      new Promise((resolve) => {
        const look = () => {
          if (!condition(spans)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, "attributes"> & { readonly attributes: Attribute[] })[];
    }[];
  }[];
}

function spansIn({ resourceSpans }: ExportRequest): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map((span) => ({
        ...span,
        links: span.links ?? [],
        attributes: toObject(span.attributes),
        resource: toObject(resource.attributes),
      })),
    ),
  );
}

function toObject(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
