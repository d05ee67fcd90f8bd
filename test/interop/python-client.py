"""A client of gRPC's C core. Arguments: the server's address, and the protos as a FileDescriptorSet.

Runs every case below and prints, as one JSON object, what each of them found: null, or what was wrong.
"""

import json
import sys
import threading
import traceback

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor_database import DescriptorDatabase

ADDRESS, IMAGE = sys.argv[1:]
TIMEOUT_SECONDS = 20
SPECIAL_MESSAGE = "\t\ntest with whitespace\r\nand Unicode BMP \u263a and non-BMP \U0001f608\t\n"
TEST_SERVICE = "tss.testing.v1.TestService"
OVERSIZE_BYTES = 2 * 1024 * 1024


def pool_of(files):
    """A pool that finds its files in any order, as the reflection client of gRPC does it."""
    database = DescriptorDatabase()
    for file in files:
        database.Add(file)
    return descriptor_pool.DescriptorPool(database)


with open(IMAGE, "rb") as image:
    pool = pool_of(descriptor_pb2.FileDescriptorSet.FromString(image.read()).file)

channel = grpc.insecure_channel(ADDRESS)
gzip_channel = grpc.insecure_channel(ADDRESS, compression=grpc.Compression.Gzip)


def message(name, **fields):
    return class_of(pool.FindMessageTypeByName(name))(**fields)


def class_of(descriptor):
    get = getattr(message_factory, "GetMessageClass", None)
    return get(descriptor) if get else message_factory.MessageFactory(pool).GetPrototype(descriptor)


def testing(name, **fields):
    return message("tss.testing.v1." + name, **fields)


def stub(method_name, service_name=TEST_SERVICE, on=None):
    method = pool.FindServiceByName(service_name).methods_by_name[method_name]
    # Older descriptors do not say which side streams, but their protos do.
    proto = descriptor_pb2.MethodDescriptorProto()
    method.CopyToProto(proto)
    sides = ("stream" if proto.client_streaming else "unary", "stream" if proto.server_streaming else "unary")
    return getattr(on or channel, "_".join(sides))(
        "/%s/%s" % (service_name, method_name),
        request_serializer=lambda request: request.SerializeToString(),
        response_deserializer=class_of(method.output_type).FromString,
    )


def body(size):
    return bytes(index % 251 for index in range(size))


def payload(size):
    return testing("Payload", body=body(size))


def parameters(*sizes):
    return [testing("ResponseParameters", size=size) for size in sizes]


def failure(call):
    """The error that a call ends with. What is not an error is a fault of the case."""
    try:
        call()
    except grpc.RpcError as error:
        return error
    raise AssertionError("the call did not fail")


def same(found, wanted):
    if found != wanted:
        raise AssertionError("%r is not %r" % (found, wanted))


def empty_unary():
    stub("EmptyCall")(testing("Empty"), timeout=TIMEOUT_SECONDS)


def large(on, compressed):
    request = testing(
        "SimpleRequest", response_size=314159, payload=payload(271828), expect_compressed=compressed
    )
    reply = stub("UnaryCall", on=on)(request, timeout=TIMEOUT_SECONDS)
    same(reply.payload.body == body(314159), True)


def large_unary():
    large(channel, False)


def client_compressed_unary():
    large(gzip_channel, True)


def server_streaming():
    sizes = [31415, 9, 2653, 58979]
    request = testing("StreamingOutputCallRequest", response_parameters=parameters(*sizes))
    replies = list(stub("StreamingOutputCall")(request, timeout=TIMEOUT_SECONDS))
    same([reply.payload.body == body(size) for reply, size in zip(replies, sizes)], [True] * 4)


def client_streaming():
    requests = [testing("StreamingInputCallRequest", payload=payload(size)) for size in (27182, 8, 1828, 45904)]
    reply = stub("StreamingInputCall")(iter(requests), timeout=TIMEOUT_SECONDS)
    same(reply.aggregated_payload_size, 74922)


class Pipe:
    """Requests that are written while replies are read."""

    def __init__(self):
        self._values = []
        self._condition = threading.Condition()
        self._open = True

    def put(self, value):
        with self._condition:
            self._values.append(value)
            self._condition.notify()

    def close(self):
        with self._condition:
            self._open = False
            self._condition.notify()

    def __iter__(self):
        return self

    def __next__(self):
        with self._condition:
            self._condition.wait_for(lambda: self._values or not self._open)
            if not self._values:
                raise StopIteration
            return self._values.pop(0)


def ping_pong():
    pipe = Pipe()
    replies = stub("FullDuplexCall")(pipe, timeout=TIMEOUT_SECONDS)
    for reply_size, request_size in ((31415, 27182), (9, 8), (2653, 1828), (58979, 45904)):
        pipe.put(
            testing(
                "StreamingOutputCallRequest",
                response_parameters=parameters(reply_size),
                payload=payload(request_size),
            )
        )
        same(len(next(replies).payload.body), reply_size)
    pipe.close()
    same(list(replies), [])


def empty_stream():
    same(list(stub("FullDuplexCall")(iter([]), timeout=TIMEOUT_SECONDS)), [])


def custom_metadata():
    initial = ("x-grpc-test-echo-initial", "test_initial_metadata_value")
    trailing = ("x-grpc-test-echo-trailing-bin", b"\x00\xab\xff\x0a")
    options = {"metadata": (initial, trailing), "timeout": TIMEOUT_SECONDS}
    _, unary = stub("UnaryCall").with_call(testing("SimpleRequest", response_size=1), **options)
    stream = stub("StreamingOutputCall")(testing("StreamingOutputCallRequest"), **options)
    same(list(stream), [])
    for call in (unary, stream):
        same(dict(call.initial_metadata())[initial[0]], initial[1])
        same(dict(call.trailing_metadata())[trailing[0]], trailing[1])


def status_of(text):
    status = testing("EchoStatus", code=2, message=text)
    unary = failure(
        lambda: stub("UnaryCall")(testing("SimpleRequest", response_status=status), timeout=TIMEOUT_SECONDS)
    )
    request = testing("StreamingOutputCallRequest", response_status=status)
    stream = failure(lambda: list(stub("FullDuplexCall")(iter([request]), timeout=TIMEOUT_SECONDS)))
    for error in (unary, stream):
        same((error.code(), error.details()), (grpc.StatusCode.UNKNOWN, text))


def status_code_and_message():
    status_of("test status message")


def special_status_message():
    status_of(SPECIAL_MESSAGE)


def error_details():
    status = testing("EchoStatus", code=8, message="later", with_details=True)
    error = failure(
        lambda: stub("UnaryCall")(testing("SimpleRequest", response_status=status), timeout=TIMEOUT_SECONDS)
    )
    details = message("google.rpc.Status")
    details.ParseFromString(dict(error.trailing_metadata())["grpc-status-details-bin"])
    same((details.code, details.message), (8, "later"))
    info, retry = message("google.rpc.ErrorInfo"), message("google.rpc.RetryInfo")
    same(details.details[0].Unpack(info) and details.details[1].Unpack(retry), True)
    same((info.reason, retry.retry_delay.seconds), ("AS_ASKED", 7))


def unimplemented_method():
    error = failure(lambda: stub("UnimplementedCall")(testing("Empty"), timeout=TIMEOUT_SECONDS))
    same(error.code(), grpc.StatusCode.UNIMPLEMENTED)


def unimplemented_service():
    strange = stub("UnimplementedCall", "tss.testing.v1.UnimplementedService")
    same(failure(lambda: strange(testing("Empty"), timeout=TIMEOUT_SECONDS)).code(), grpc.StatusCode.UNIMPLEMENTED)


def oversize_request():
    request = testing("SimpleRequest", payload=payload(OVERSIZE_BYTES))
    error = failure(lambda: stub("UnaryCall")(request, timeout=TIMEOUT_SECONDS))
    same(error.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
    empty_unary()


def cancel_after_begin():
    pipe = Pipe()
    call = stub("StreamingInputCall").future(pipe, timeout=TIMEOUT_SECONDS)
    call.cancel()
    pipe.close()
    same((call.cancelled(), call.code()), (True, grpc.StatusCode.CANCELLED))


def cancel_after_first_response():
    request = testing("StreamingOutputCallRequest", response_parameters=parameters(31415), hang=True)
    call = stub("FullDuplexCall")(iter([request]), timeout=TIMEOUT_SECONDS)
    same(len(next(call).payload.body), 31415)
    call.cancel()
    same(failure(lambda: next(call)).code(), grpc.StatusCode.CANCELLED)


def timeout_on_sleeping_server():
    unary = failure(lambda: stub("UnaryCall")(testing("SimpleRequest", hang=True), timeout=0.1))
    same(unary.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
    request = testing("StreamingOutputCallRequest", hang=True)
    stream = failure(lambda: list(stub("FullDuplexCall")(iter([request]), timeout=0.1)))
    same(stream.code(), grpc.StatusCode.DEADLINE_EXCEEDED)


def deadline_is_shortened():
    reply = stub("UnaryCall")(testing("SimpleRequest"), timeout=3600)
    same(540000 < reply.deadline_ms <= 600000, True)


def health():
    check = stub("Check", "grpc.health.v1.Health")
    known = message("grpc.health.v1.HealthCheckRequest", service=TEST_SERVICE)
    same(check(known, timeout=TIMEOUT_SECONDS).status, 1)
    unknown = message("grpc.health.v1.HealthCheckRequest", service="nobody")
    same(failure(lambda: check(unknown, timeout=TIMEOUT_SECONDS)).code(), grpc.StatusCode.NOT_FOUND)
    watch = stub("Watch", "grpc.health.v1.Health")(unknown, timeout=TIMEOUT_SECONDS)
    same(next(watch).status, 3)
    watch.cancel()


def reflect(version, **question):
    package = "grpc.reflection.%s." % version
    request = message(package + "ServerReflectionRequest", **question)
    info = stub("ServerReflectionInfo", package + "ServerReflection")
    (reply,) = info(iter([request]), timeout=TIMEOUT_SECONDS)
    return reply


def reflection():
    for version in ("v1", "v1alpha"):
        listed = reflect(version, list_services="").list_services_response.service
        same(TEST_SERVICE in [service.name for service in listed], True)
        found = reflect(version, file_containing_symbol=TEST_SERVICE).file_descriptor_response
        files = [descriptor_pb2.FileDescriptorProto.FromString(file) for file in found.file_descriptor_proto]
        same(files[0].name, "tss/testing/v1/testing.proto")
        service = pool_of(files).FindServiceByName(TEST_SERVICE)
        same(len(service.methods), 6)
        same(reflect(version, file_containing_symbol="no.Such").error_response.error_code, 5)
        same(reflect(version).error_response.error_code, 3)


CASES = [
    empty_unary,
    large_unary,
    client_compressed_unary,
    server_streaming,
    client_streaming,
    ping_pong,
    empty_stream,
    custom_metadata,
    status_code_and_message,
    special_status_message,
    error_details,
    unimplemented_method,
    unimplemented_service,
    oversize_request,
    cancel_after_begin,
    cancel_after_first_response,
    timeout_on_sleeping_server,
    deadline_is_shortened,
    health,
    reflection,
]


def outcome(case):
    try:
        case()
    except Exception:  # Whatever it is goes into the report.
        return traceback.format_exc()
    return None


print(json.dumps({case.__name__: outcome(case) for case in CASES}))
