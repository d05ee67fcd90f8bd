// Makes a key and signs with it over gRPC, through a signer on this machine. README.md says how to run it.
package main

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log"
	"os"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	signerv1 "tssclient/tss/signer/v1"
	tssv1 "tssclient/tss/v1"
)

func main() {
	socket := os.Getenv("SIGNER_SOCKET")
	if socket == "" {
		socket = "signer.sock"
	}
	// The socket belongs to this user alone, so it needs neither TLS nor a token.
	connection, err := grpc.Dial("unix:"+socket, grpc.WithInsecure(), grpc.WithAuthority("localhost"))
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	signer := signerv1.NewSignerClient(connection)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()

	// The same name returns the same key, so that this also runs after a crash.
	key, err := signer.CreateKey(ctx, &signerv1.CreateKeyRequest{Name: "payouts", Curve: tssv1.Curve_ED25519})
	if err != nil {
		log.Fatal("no key: ", err)
	}
	fmt.Printf("key %x\n", key.PublicKey)

	message := []byte("pay 5 to carol")
	request := &signerv1.SignRequest{
		Name: key.Name,
		Payload: &signerv1.SignRequest_Raw{Raw: &signerv1.RawMessage{
			Message:            message,
			SignatureAlgorithm: tssv1.SignatureAlgorithm_EdDSA,
			HashScheme:         tssv1.Hash_SHA512,
		}},
		// The same idempotency key returns the same signature, for one charge.
		IdempotencyKey: "payment-3",
	}
	signed, err := signer.Sign(ctx, request)
	if err != nil {
		log.Fatal("no signature: ", err)
	}
	fmt.Printf("signature %x\n", signed.Signature)
	fmt.Println("verified", ed25519.Verify(key.PublicKey, message, signed.Signature))

	// Every error has a machine-readable reason.
	request.Name = "unknown"
	_, err = signer.Sign(ctx, request)
	fmt.Println("error", reasonOf(err))
}

// reasonOf returns the reason of a refused call, such as KEY_NOT_FOUND.
func reasonOf(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.Reason
		}
	}
	return status.Code(err).String()
}
