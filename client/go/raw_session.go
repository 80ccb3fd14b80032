// Everything the transport asks of a client, in Go with the code that protoc-gen-go and protoc-gen-go-grpc make of proto/ttfd/v1
// (--go_opt=Mttfd/v1/ttfd.proto=ttfd/v1 and so on). It acknowledges every message at once, which is simple; a library would let
// acks ride on what it sends (docs/api.md).
package ttfdsession

import (
	"context"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
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

// Connect opens a session. hello may have a name, a reconnect timeout, a lease; the Session keeps it.
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
	s.conn, err = grpc.Dial(s.address, grpc.WithInsecure())
	if err == nil {
		s.stream, err = pb.NewDeviceServiceClient(s.conn).Session(context.Background())
	}
	if err == nil {
		s.stream.Send(&pb.ClientMessage{Hello: s.hello}) // Hello is alone; if it fails, Recv says why
	}
	return err
}

// reconnect is called with what ended the stream, and returns it where nothing can be done.
func (s *Session) reconnect(end error) error {
	if s.giveUp.IsZero() {
		s.giveUp = time.Now().Add(time.Duration(s.hello.ReconnectTimeoutMs) * time.Millisecond)
	}
	for s.Welcome != nil && lost(end) && time.Now().Before(s.giveUp) {
		s.conn.Close()
		time.Sleep(20 * time.Millisecond)
		s.hello.Attach = &pb.Hello_Resume{Resume: &pb.Resume{ // in place of a lease, or its token
			Session: s.Welcome.Session, Token: s.Welcome.Token, Received: s.received}}
		if end = s.open(); end == nil {
			return nil
		}
	}
	s.conn.Close()
	return end
}

// lost says whether the connection was lost: a status with details is the daemon's, which has ended the session.
func lost(end error) bool {
	return status.Code(end) == codes.Unavailable && len(status.Convert(end).Proto().GetDetails()) == 0
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
	for err != nil {
		if err == io.EOF {
			s.conn.Close()
		} else {
			err = s.reconnect(err)
		}
		if err != nil {
			return err
		}
		message, err = s.stream.Recv()
	}
	if w := message.Welcome; w != nil {
		s.Welcome, s.giveUp = w, time.Time{}
		s.acknowledged(w.Received)
		s.window = max(s.window, w.WindowBytes)
		for _, kept := range s.kept { // after a resume: unchanged, before anything new
			s.stream.Send(kept)
		}
	}
	s.acknowledged(message.Ack)
	s.window = max(s.window, message.WindowBytes)
	if message.Sequence > s.received+1 || message.Ack > s.sent {
		s.conn.Close()
		return fmt.Errorf("message %d after %d, ack %d of %d",
			message.Sequence, s.received, message.Ack, s.sent)
	}
	if message.Sequence == 0 || message.Sequence <= s.received { // a repeated one is dropped
		return nil
	}
	for _, data := range message.Data {
		key := [2]uint64{uint64(data.Queue), data.Value}
		s.Data[key] = append(s.Data[key], data.Payload...)
	}
	s.Errors = append(s.Errors, message.Errors...)
	for _, position := range message.Progress {
		s.Completed[position.Queue] = max(s.Completed[position.Queue], position.Value)
	}
	s.received = message.Sequence
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
