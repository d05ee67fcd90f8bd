import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.rpc.ErrorInfo;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.MetadataUtils;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import tss.signer.v1.CreateKeyRequest;
import tss.signer.v1.Key;
import tss.signer.v1.RawMessage;
import tss.signer.v1.SignRequest;
import tss.signer.v1.SignerGrpc;
import tss.signer.v1.SignerGrpc.SignerBlockingStub;
import tss.v1.Curve;
import tss.v1.Hash;
import tss.v1.SignatureAlgorithm;

/** Makes a key and signs with it over gRPC, through a signer on this machine. README.md says how to run it. */
public final class Main {
    public static void main(String[] arguments) throws Exception {
        String address = System.getenv().getOrDefault("SIGNER_ADDRESS", "127.0.0.1:8420");
        ManagedChannel channel = Grpc.newChannelBuilder(address, InsecureChannelCredentials.create()).build();
        try {
            makeAndSign(SignerGrpc.newBlockingStub(channel).withInterceptors(
                MetadataUtils.newAttachHeadersInterceptor(authorization())));
        } finally {
            channel.shutdownNow();
        }
    }

    private static void makeAndSign(SignerBlockingStub signer) throws Exception {
        // The same name returns the same key, so that this also runs after a crash.
        Key key = within(signer).createKey(
            CreateKeyRequest.newBuilder().setName("payouts").setCurve(Curve.ED25519).build());
        System.out.println("key " + hex(key.getPublicKey()));

        ByteString message = ByteString.copyFromUtf8("pay 5 to dave");
        SignRequest request = SignRequest.newBuilder()
            .setName(key.getName())
            .setRaw(RawMessage.newBuilder()
                .setMessage(message)
                .setSignatureAlgorithm(SignatureAlgorithm.EdDSA)
                .setHashScheme(Hash.SHA512))
            // The same idempotency key returns the same signature, for one charge.
            .setIdempotencyKey("payment-4")
            .build();
        ByteString signature = within(signer).sign(request).getSignature();
        System.out.println("signature " + hex(signature));
        System.out.println("verified " + isSignature(key.getPublicKey(), message, signature));

        // Every error has a machine-readable reason.
        try {
            within(signer).sign(request.toBuilder().setName("unknown").build());
            throw new IllegalStateException("the key should not exist");
        } catch (StatusRuntimeException error) {
            System.out.println("error " + reasonOf(error));
        }
    }

    /** A new key takes longer than a call on the service does. */
    private static SignerBlockingStub within(SignerBlockingStub signer) {
        return signer.withDeadlineAfter(5, TimeUnit.MINUTES);
    }

    /** The header with the token of the signer's port. */
    private static Metadata authorization() throws Exception {
        Path file = Path.of(System.getenv().getOrDefault("SIGNER_TOKEN_FILE", "token"));
        Metadata headers = new Metadata();
        headers.put(
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER),
            "Bearer " + Files.readString(file).strip());
        return headers;
    }

    private static boolean isSignature(ByteString publicKey, ByteString message, ByteString signature) throws Exception {
        // Java reads an Ed25519 key in the form of X.509, which is this prefix and the key.
        byte[] encoded = ED25519_PREFIX.concat(publicKey).toByteArray();
        Signature verifier = Signature.getInstance("Ed25519");
        verifier.initVerify(KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(encoded)));
        verifier.update(message.toByteArray());
        return verifier.verify(signature.toByteArray());
    }

    private static final ByteString ED25519_PREFIX =
        ByteString.copyFrom(HexFormat.of().parseHex("302a300506032b6570032100"));

    /** Returns the reason of a refused call, such as KEY_NOT_FOUND. */
    private static String reasonOf(StatusRuntimeException error) throws Exception {
        for (Any detail : StatusProto.fromThrowable(error).getDetailsList()) {
            if (detail.is(ErrorInfo.class)) {
                return detail.unpack(ErrorInfo.class).getReason();
            }
        }
        return error.getStatus().getCode().name();
    }

    private static String hex(ByteString octets) {
        return HexFormat.of().formatHex(octets.toByteArray());
    }
}
