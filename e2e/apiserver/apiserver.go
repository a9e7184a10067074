package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

type apiServer struct {
	options    *options.ServerRunOptions
	address    string
	certs      string
	token      string
	kubeconfig string
	log        string
}

// prepareAPIServer sets every option of kube-apiserver and reserves its port.
func prepareAPIServer(dir, etcd string, flags []string) (*apiServer, error) {
	token := make([]byte, 16)
	if _, err := rand.Read(token); err != nil {
		return nil, err
	}
	server := &apiServer{
		options:    options.NewServerRunOptions(),
		certs:      filepath.Join(dir, "certs"),
		token:      hex.EncodeToString(token),
		kubeconfig: filepath.Join(dir, "kubeconfig"),
		log:        logFile(dir),
	}
	tokens := filepath.Join(dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(server.token+",admin,admin,system:masters\n"), 0o600); err != nil {
		return nil, err
	}
	key := filepath.Join(dir, "service-account.key")
	if err := writeKey(key); err != nil {
		return nil, err
	}
	set := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, group := range server.options.Flags().FlagSets {
		set.AddFlagSet(group)
	}
	arguments := append([]string{
		"--etcd-servers=http://" + etcd,
		"--bind-address=127.0.0.1",
		"--cert-dir=" + server.certs,
		// Every cluster with providers has this setting.
		"--allow-privileged",
		"--token-auth-file=" + tokens,
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + key,
		"--service-account-signing-key-file=" + key,
		"--service-cluster-ip-range=10.0.0.0/24",
		// No pods run here, so nothing needs to wait for their service accounts.
		"--disable-admission-plugins=ServiceAccount",
	}, flags...)
	if err := set.Parse(arguments); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server.address = listener.Addr().String()
	server.options.SecureServing.Listener = listener
	server.options.SecureServing.BindPort = listener.Addr().(*net.TCPAddr).Port
	return server, nil
}

func (s *apiServer) run(ctx context.Context) error {
	registry := s.options.GenericServerRunOptions.ComponentGlobalsRegistry
	if err := registry.Set(); err != nil {
		return err
	}
	if err := logsapi.ValidateAndApply(s.options.Logs, nil); err != nil {
		return err
	}
	completed, err := s.options.Complete(ctx)
	if err != nil {
		return err
	}
	if problems := completed.Validate(); len(problems) != 0 {
		return errors.Join(problems...)
	}
	return app.Run(ctx, completed)
}

// waitUntilReady polls /readyz with the self-signed certificate of the server, then writes the kubeconfig.
func (s *apiServer) waitUntilReady(ctx context.Context, done <-chan error) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(2 * time.Minute)
	last := errors.New("no answer")
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case err := <-done:
			return errors.Join(errors.New("it stopped"), err)
		case <-deadline:
			return last
		case <-tick.C:
		}
		ca, err := os.ReadFile(filepath.Join(s.certs, "apiserver.crt"))
		if err != nil {
			last = err
			continue
		}
		if last = s.probe(ctx, ca); last == nil {
			return s.writeKubeconfig(ca)
		}
	}
}

func (s *apiServer) probe(ctx context.Context, ca []byte) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+s.address+"/readyz", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+s.token)
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("/readyz answers %s", response.Status)
	}
	return nil
}

func (s *apiServer) writeKubeconfig(ca []byte) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: "https://" + s.address, CertificateAuthorityData: ca}
	config.AuthInfos["admin"] = &clientcmdapi.AuthInfo{Token: s.token}
	config.Contexts["admin@test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "admin"}
	config.CurrentContext = "admin@test"
	return clientcmd.WriteToFile(*config, s.kubeconfig)
}

func logFile(dir string) string {
	return filepath.Join(dir, "kube-apiserver.log")
}

func writeKey(path string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	return os.WriteFile(path, pem.EncodeToMemory(block), 0o600)
}

// logTo redirects all loggers of the servers to a file. Standard error shows only the reason for a failed start.
func logTo(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	os.Stderr = file
	return nil
}
