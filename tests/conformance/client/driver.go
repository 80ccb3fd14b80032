// The conformance job with client/go/raw_session.go. See run.py for the job and its report.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	pb "ttfd/v1"
	"ttfdsession"
)

const (
	bigBuffer, smallBuffer, kernel, program = 1, 2, 3, 4
	bigBytes                                = 65536
)

func write(buffer, offset uint64, payload []byte) *pb.Command {
	return &pb.Command{Op: &pb.Command_Write{Write: &pb.Write{Buffer: buffer, Offset: offset,
		Size: uint64(len(payload)), From: &pb.Write_Inline{Inline: payload}}}}
}

func streamedWrite() *pb.Command {
	return &pb.Command{Op: &pb.Command_Write{Write: &pb.Write{Buffer: bigBuffer, Size: bigBytes,
		From: &pb.Write_Streamed{Streamed: true}}}}
}

func read(buffer, size uint64) *pb.Command {
	return &pb.Command{Op: &pb.Command_Read{Read: &pb.Read{Buffer: buffer, Size: size}}}
}

func allocate(buffer, size uint64, page uint32) *pb.Command {
	return &pb.Command{Op: &pb.Command_Allocate{Allocate: &pb.Allocate{Handle: buffer, SizeBytes: size, PageBytes: page,
		Place: &pb.Allocate_Dram{Dram: &pb.Interleaved{}}}}}
}

// commands of queue 1; value 3 is the streamed write, load the streamed kernel, writes the last write.
func commands(elf []byte) (all []*pb.Command, writes, load uint64) {
	all = []*pb.Command{allocate(bigBuffer, bigBytes, 4096), allocate(smallBuffer, 4096, 1024), streamedWrite()}
	for i := 0; i < 16; i++ {
		all = append(all, write(smallBuffer, uint64(64*i), bytes.Repeat([]byte{byte(i)}, 64)))
	}
	writes = uint64(len(all))
	for i := 0; i < 24; i++ {
		all = append(all, &pb.Command{Op: &pb.Command_Barrier{Barrier: &pb.Barrier{}}})
	}
	all = append(all, &pb.Command{Op: &pb.Command_LoadKernel{LoadKernel: &pb.LoadKernel{Handle: kernel,
		Size: uint64(len(elf)), Name: "conformance", From: &pb.LoadKernel_Streamed{Streamed: true}}}})
	load = uint64(len(all))
	all = append(all, &pb.Command{Op: &pb.Command_CreateProgram{CreateProgram: &pb.CreateProgram{Handle: program,
		Kernels: []*pb.KernelUse{{Kernel: kernel, Processor: pb.Processor_PROCESSOR_BRISC, Cores: []*pb.CoreRange{{X1: 3}}}}}}})
	for i := uint32(0); i < 8; i++ {
		all = append(all, &pb.Command{Op: &pb.Command_Launch{Launch: &pb.Launch{Program: program,
			Arguments: []*pb.Arguments{{Common: []uint32{0, i}, Buffers: []*pb.BufferArgument{{Buffer: bigBuffer}}}}}}})
	}
	return append(all, read(bigBuffer, bigBytes)), writes, load
}

func supply(s *ttfdsession.Session, value uint64, payload []byte) error {
	chunk := int(s.Welcome.Limits.ChunkBytes)
	for at := 0; at < len(payload); at += chunk {
		end := at + chunk
		if end > len(payload) {
			end = len(payload)
		}
		data := &pb.Data{Queue: 1, Value: value, Offset: uint64(at), Payload: payload[at:end]}
		if err := s.Send(&pb.ClientMessage{Data: []*pb.Data{data}}); err != nil {
			return err
		}
	}
	return nil
}

func send(s *ttfdsession.Session, first uint64, some []*pb.Command) error {
	return s.Send(&pb.ClientMessage{Batches: []*pb.Batch{{Queue: 1, FirstValue: first, Commands: some}}})
}

func wait(s *ttfdsession.Session, queue uint32, value uint64) error {
	for s.Completed[queue] < value {
		if err := s.Receive(); err != nil {
			return err
		}
	}
	return nil
}

// job says whether everything that was read is right.
func job(s *ttfdsession.Session, cancel bool) (bool, error) {
	pattern, small := make([]byte, bigBytes), make([]byte, 1024)
	for i := range pattern {
		pattern[i] = byte(i)
	}
	for i := range small {
		small[i] = byte(i / 64)
	}
	elf := pattern[:20480]
	all, writes, load := commands(elf)
	last := uint64(len(all))
	err := s.Send(&pb.ClientMessage{OpenQueues: []*pb.OpenQueue{{Queue: 1},
		{Queue: 2, Kind: pb.QueueKind_QUEUE_KIND_TRANSFER}}})
	for first := uint64(1); first <= last && err == nil; first += 8 {
		end := first + 8
		if end > last+1 {
			end = last + 1
		}
		err = send(s, first, all[first-1:end-1])
		if err == nil && first <= 3 && 3 < end {
			err = supply(s, 3, pattern)
		}
		if err == nil && first <= load && load < end {
			err = supply(s, load, elf)
		}
	}
	if err == nil {
		err = s.Send(&pb.ClientMessage{Batches: []*pb.Batch{{Queue: 2, FirstValue: 1,
			Waits: []*pb.QueuePosition{{Queue: 1, Value: writes}}, Commands: []*pb.Command{read(smallBuffer, 1024)}}}})
	}
	if err == nil {
		err = wait(s, 1, last)
	}
	if err == nil {
		err = wait(s, 2, 1)
	}
	if err == nil && cancel {
		err = cancelled(s, last+1, pattern)
	}
	return bytes.Equal(s.Data[[2]uint64{1, last}], pattern) && bytes.Equal(s.Data[[2]uint64{2, 1}], small), err
}

func cancelled(s *ttfdsession.Session, value uint64, pattern []byte) error {
	err := send(s, value, []*pb.Command{streamedWrite()})
	if err == nil {
		err = supply(s, value, pattern)
	}
	if err == nil {
		err = s.Send(&pb.ClientMessage{Cancels: []*pb.Cancel{{Queue: 1, FromValue: value}}})
	}
	if err == nil {
		err = wait(s, 1, value)
	}
	return err
}

var codes = []string{"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
	"PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
	"INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"}

// report of an error. What is no status is a rule that the daemon broke.
func report(end *status.Status, state pb.ExecutionState) map[string]interface{} {
	out := map[string]interface{}{"outcome": "error", "code": codes[end.Code()], "message": end.Message(), "reason": "",
		"field": "", "limit": "", "limit_value": 0, "limit_used": 0, "hang_report": "", "retryable": false,
		"execution_state": strings.TrimPrefix(state.String(), "EXECUTION_STATE_")}
	for _, detail := range end.Details() {
		switch one := detail.(type) {
		case *errdetails.ErrorInfo:
			out["reason"] = one.Reason
			for key, value := range one.Metadata {
				out[key] = value
				if number, err := strconv.Atoi(value); err == nil && strings.HasPrefix(key, "limit_") {
					out[key] = number
				}
			}
		case *errdetails.RetryInfo:
			out["retryable"] = true
		}
	}
	return out
}

func reportEnd(end error) map[string]interface{} {
	if known, ok := status.FromError(end); ok {
		return report(known, 0)
	}
	out := report(status.New(13, end.Error()), 0) // INTERNAL
	return out
}

// run does one job: the driver's report.
func run(words []string) map[string]interface{} {
	options := " " + strings.Join(words[2:], " ") + " "
	reconnect, _ := strconv.Atoi(words[1])
	hello := &pb.Hello{ClientName: "conformance", ReconnectTimeoutMs: uint32(reconnect)}
	if strings.Contains(options, " lease ") {
		most := uint32(10000)
		hello.Attach = &pb.Hello_Lease{Lease: &pb.Lease{WaitMs: &most}}
	}
	if strings.Contains(options, " lease-token ") {
		hello.Attach = &pb.Hello_LeaseToken{LeaseToken: []byte{0x1e, 0xa5, 0xe0}}
	}
	s, err := ttfdsession.Connect(words[0], hello)
	if err != nil {
		return reportEnd(err)
	}
	right, err := job(s, strings.Contains(options, " cancel "))
	out := map[string]interface{}{"outcome": "ok"}
	if err != nil {
		return reportEnd(err)
	} else if len(s.Errors) > 0 {
		out = report(status.FromProto(s.Errors[0].Status), s.Errors[0].ExecutionState)
	} else if !right {
		out["outcome"] = "wrong bytes"
	}
	last := &pb.ClientMessage{Finish: &pb.Finish{}}
	leaves := strings.Contains(options, " leave ")
	if leaves {
		last = &pb.ClientMessage{Leave: &pb.Leave{}}
	}
	for err = s.Send(last); err == nil; {
		err = s.Receive()
	}
	if !leaves && !errors.Is(err, io.EOF) {
		return reportEnd(err)
	}
	return out
}

func main() {
	jobs := bufio.NewScanner(os.Stdin)
	for jobs.Scan() {
		line, _ := json.Marshal(run(strings.Fields(jobs.Text())))
		fmt.Println(string(line))
	}
}
