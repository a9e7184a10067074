package main

import (
	"errors"
	"net/url"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// startEtcd starts a single member on loopback ports that the kernel chooses. It does not wait for the disk, because data of
// a test server need not survive a crash of the machine.
func startEtcd(dir, log string) (*embed.Etcd, error) {
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config := embed.NewConfig()
	config.Dir = dir
	config.UnsafeNoFsync = true
	config.LogLevel = "error"
	config.LogOutputs = []string{log}
	// It would connect to the advertised address, which has no port yet.
	config.EnableGRPCGateway = false
	config.ListenClientUrls, config.AdvertiseClientUrls = anyPort, anyPort
	config.ListenPeerUrls, config.AdvertisePeerUrls = anyPort, anyPort
	config.InitialCluster = config.InitialClusterFromName(config.Name)

	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return nil, err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case err := <-etcd.Err():
		etcd.Close()
		return nil, err
	case <-time.After(time.Minute):
		etcd.Close()
		return nil, errors.New("not ready after a minute")
	}
}
