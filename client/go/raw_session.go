// Everything the transport asks of a client, in Go with the code that protoc-gen-go and protoc-gen-go-grpc make of proto/ttfd/v1
// (--go_opt=Mttfd/v1/ttfd.proto=ttfd/v1 and so on). It acknowledges every message at once, which is simple; a library would let
// acks ride on what it sends (docs/api.md). Not built by this project's build: it needs a current google.golang.org/grpc.
package ttfdsession

import (
	"context"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "ttfd/v1"
)

// Session follows the rules of the transport. One goroutine uses it.
type Session struct {
	Welcome   *pb.Welcome
	Completed map[uint32]uint64 // by queue
	Errors    []*pb.CommandError
	Data      map[[2]uint64][]byte // by queue and value of a Read

	address                      string
	hello                        *pb.Hello
	conn                         *grpc.ClientConn
	stream                       pb.DeviceService_SessionClient
	sent, received, cost, window uint64
	kept                         []*pb.ClientMessage // not acknowledged
	giveUp                       time.Time
}

func Connect(address string, hello *pb.Hello) (*Session, error) {
	hello.MinRevision, hello.MaxRevision = 1, 1
	s := &Session{address: address, hello: hello,
		Completed: map[uint32]uint64{}, Data: map[[2]uint64][]byte{}}
	err := s.open()
	for err == nil && s.Welcome == nil {
		err = s.Receive()
	}
	return s, err
}

func (s *Session) open() (err error) {
	s.conn, err = grpc.Dial(s.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err == nil {
		s.stream, err = pb.NewDeviceServiceClient(s.conn).Session(context.Background())
	}
	if err == nil {
		err = s.stream.Send(&pb.ClientMessage{Hello: s.hello}) // Hello is alone
	}
	return err
}

// reconnect is called with what ended the stream, and returns it where nothing can be done.
func (s *Session) reconnect(lost error) error {
	if s.giveUp.IsZero() {
		s.giveUp = time.Now().Add(time.Duration(s.hello.ReconnectTimeoutMs) * time.Millisecond)
	}
	lostOnly := func() bool { // not ended by the daemon, which says why
		return status.Code(lost) == codes.Unavailable && len(status.Convert(lost).Details()) == 0
	}
	for lostOnly() && s.Welcome != nil && time.Now().Before(s.giveUp) {
		s.conn.Close()
		time.Sleep(20 * time.Millisecond)
		s.hello.Attach = &pb.Hello_Resume{Resume: &pb.Resume{
			Session: s.Welcome.Session, Token: s.Welcome.Token, Received: s.received}}
		if lost = s.open(); lost == nil {
			return nil
		}
	}
	return lost
}

// Send numbers a message with open_queues, batches, data, cancels, finish or leave, and keeps it.
func (s *Session) Send(message *pb.ClientMessage) error {
	charged := len(message.Batches)+len(message.Data) > 0
	cost := uint64(0)
	for _, batch := range message.Batches {
		cost += uint64(len(batch.Commands)) * uint64(s.Welcome.Limits.CommandBytes)
	}
	// 24: sequence and ack, at most.
	for charged && s.cost+cost+uint64(proto.Size(message))+24 > s.window {
		if err := s.Receive(); err != nil {
			return err
		}
	}
	s.sent++
	message.Sequence, message.Ack = s.sent, s.received
	if charged {
		s.cost += cost + uint64(proto.Size(message))
	}
	s.kept = append(s.kept, message)
	s.stream.Send(message) // of a lost connection: Receive finds out, and resends
	return nil
}

// Receive takes one message of the daemon. io.EOF: the call has ended, as Finish asked.
func (s *Session) Receive() error {
	message, err := s.stream.Recv()
	if err == io.EOF {
		return err
	}
	if err != nil {
		return s.reconnect(err)
	}
	if w := message.Welcome; w != nil {
		s.Welcome = w
		s.acknowledged(w.Received)
		s.window = max(s.window, w.WindowBytes)
		for _, kept := range s.kept { // after a resume: unchanged, before anything new
			s.stream.Send(kept)
		}
	}
	s.acknowledged(message.Ack)
	s.window = max(s.window, message.WindowBytes)
	if message.Sequence == 0 || message.Sequence <= s.received { // a repeated one is dropped
		return nil
	}
	if message.Sequence != s.received+1 || message.Ack > s.sent {
		return fmt.Errorf("message %d after %d, ack %d of %d",
			message.Sequence, s.received, message.Ack, s.sent)
	}
	for _, data := range message.Data {
		key := [2]uint64{uint64(data.Queue), data.Value}
		s.Data[key] = append(s.Data[key], data.Payload...)
	}
	s.Errors = append(s.Errors, message.Errors...)
	for _, position := range message.Progress {
		s.Completed[position.Queue] = max(s.Completed[position.Queue], position.Value)
	}
	s.received, s.giveUp = message.Sequence, time.Time{}
	s.stream.Send(&pb.ClientMessage{Ack: s.received})
	return nil
}

func (s *Session) acknowledged(sequence uint64) {
	for len(s.kept) > 0 && s.kept[0].Sequence <= sequence {
		s.kept = s.kept[1:]
	}
}

func max(a, b uint64) uint64 {
	if a > b {
		return a
	}
	return b
}
