"""The same over gRPC, with a generated client. README.md says how to run it."""
import os
import sys

import grpc
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from google.rpc import error_details_pb2, status_pb2
from tss.signer.v1 import signer_pb2, signer_pb2_grpc
from tss.v1 import types_pb2


def reason_of(error):
    """Returns the reason of a refused call, such as KEY_NOT_FOUND."""
    details = dict(error.trailing_metadata()).get("grpc-status-details-bin", b"")
    info = error_details_pb2.ErrorInfo()
    for detail in status_pb2.Status.FromString(details).details:
        if detail.Unpack(info):
            return info.reason
    return error.code().name


# The socket belongs to this user alone, so it needs neither TLS nor a token.
with grpc.insecure_channel("unix:" + os.environ.get("SIGNER_SOCKET", "signer.sock")) as channel:
    signer = signer_pb2_grpc.SignerStub(channel)
    # A new key takes longer than a call on the service does.
    key = signer.CreateKey(signer_pb2.CreateKeyRequest(name="payouts", curve=types_pb2.ED25519), timeout=300)
    print("key", key.public_key.hex())

    message = b"pay 5 to bob"
    raw = signer_pb2.RawMessage(
        message=message, signature_algorithm=types_pb2.EdDSA, hash_scheme=types_pb2.SHA512
    )
    # The same idempotency key returns the same signature, for one charge.
    request = signer_pb2.SignRequest(name=key.name, raw=raw, idempotency_key="payment-2")
    signature = signer.Sign(request, timeout=180).signature
    print("signature", signature.hex())
    # This raises InvalidSignature unless the signature is right.
    Ed25519PublicKey.from_public_bytes(key.public_key).verify(signature, message)
    print("verified true")

    # Every error has a machine-readable reason.
    request.name = "unknown"
    try:
        signer.Sign(request, timeout=180)
        sys.exit("the key should not exist")
    except grpc.RpcError as error:
        print("error", reason_of(error))
