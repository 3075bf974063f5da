package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/fxamacker/cbor/v2"
)

// What a frame is.
const (
	frameJob    byte = 'j' // the name of a job and its input
	frameBegun  byte = 'b' // a job has arrived
	frameAsk    byte = 'q'
	frameAnswer byte = 'a'
	frameDenied byte = 'e' // the text of an error instead of an answer
	frameDone   byte = 'd'
	frameLast   byte = 'l' // frameDone of a child that ends now
	frameFailed byte = 'f' // the text of an error
	frameLarge  byte = 'o' // more output than is permitted
)

// header is a kind and a length.
const header = 5

// errLarge reports that the other side says more than it may.
var errLarge = errors.New("too much")

// send writes one frame.
func send(to io.Writer, kind byte, payload []byte) error {
	frame := make([]byte, header, header+len(payload))
	frame[0] = kind
	binary.BigEndian.PutUint32(frame[1:], uint32(len(payload))) //nolint:gosec // inputs and outputs are bounded far below
	_, err := to.Write(append(frame, payload...))
	return err
}

// receive reads one frame.
func receive(from io.Reader, most int64) (kind byte, payload []byte, err error) {
	var head [header]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return 0, nil, err
	}
	n := int64(binary.BigEndian.Uint32(head[1:]))
	if n > most {
		return head[0], nil, errLarge
	}
	payload = make([]byte, n)
	_, err = io.ReadFull(from, payload)
	return head[0], payload, err
}

// order is the payload of a frame with a job.
type order struct {
	Job   string
	Input []byte
}

// Encode encodes what jobs are given and give. Other than JSON, it tells whole numbers from others and texts from bytes.
func Encode(value any) ([]byte, error) {
	data, err := cbor.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding for a job: %w", err)
	}
	return data, nil
}

// Decode decodes what Encode made. Maps in an empty interface have texts for keys, whole numbers are int64.
func Decode(data []byte, into any) error {
	const deepest, most = 65535, 1<<31 - 1
	mode, err := cbor.DecOptions{
		MaxNestedLevels: deepest, MaxArrayElements: most, MaxMapPairs: most, IntDec: cbor.IntDecConvertSignedOrBigInt,
		DefaultMapType: stringMap(), UTF8: cbor.UTF8DecodeInvalid,
	}.DecMode()
	if err != nil {
		return err
	}
	if err := mode.Unmarshal(data, into); err != nil {
		return fmt.Errorf("decoding what a job was given or gave: %w", err)
	}
	return nil
}
